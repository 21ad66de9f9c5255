import { type DescribedRoute, REQUEST_HEADERS, type RequestHeader, type RouteExample } from './described-route.js';

/** An object of an OpenAPI document. */
export type Node = Readonly<Record<string, unknown>>;

const PROBLEM = 'application/problem+json';
const PROBLEM_OF = { 4: 'a problem of the request: what is wrong with it', 5: 'a problem of this side: try later' };

/**
 * An operation as it was made from the schemas of its route, with what is said of the route: texts, headers of the request and
 * examples. The parts of one example have its name, wherever they stand: parameters, body, answer.
 */
export function describeOperation(
  method: string,
  path: string,
  operation: Node,
  route: DescribedRoute | undefined,
): Node {
  const examples = Object.entries(route?.examples ?? {});
  const stated = [operation.parameters ?? []].flat().map((each) => nodeOf(each) ?? {});
  const headers = (route?.headers ?? []).map(headerParameter);
  const parameters = [...stated, ...headers].map((each) => withExamples(each, valuesOf(each, examples)));
  const body = nodeOf(operation.requestBody);
  return {
    ...(route !== undefined && { summary: route.summary, description: route.description }),
    operationId: operationId(method, path),
    ...operation,
    ...(parameters.length > 0 && { parameters }),
    ...(body !== undefined && { requestBody: describedBody(body, examples) }),
    responses: describedAnswers(nodeOf(operation.responses) ?? {}, route),
  };
}

type NamedExample = readonly [name: string, example: RouteExample];
type NamedValue = readonly [name: string, value: unknown];

function headerParameter(name: RequestHeader): Node {
  return { in: 'header', name, required: false, description: REQUEST_HEADERS[name], schema: { type: 'string' } };
}

/** What the examples say for one parameter. */
function valuesOf(parameter: Node, examples: readonly NamedExample[]): readonly NamedValue[] {
  const place = parameter.in === 'header' ? 'headers' : parameter.in === 'path' ? 'path' : 'query';
  return present(examples, (example) => nodeOf(example[place])?.[String(parameter.name)]);
}

/** A body that can only be empty need not be there. */
function describedBody(body: Node, examples: readonly NamedExample[]): Node {
  const content = mapped(nodeOf(body.content) ?? {}, (media) =>
    withExamples(
      media,
      present(examples, ({ body: sent }) => sent),
    ),
  );
  const isEmpty = Object.values(content).every((media) => {
    const properties = nodeOf(nodeOf(nodeOf(media)?.schema)?.properties) ?? {};
    return Object.keys(properties).length === 0;
  });
  return { required: !isEmpty, content };
}

function describedAnswers(answers: Node, route: DescribedRoute | undefined): Node {
  const examples = Object.entries(route?.examples ?? {});
  return Object.fromEntries(
    Object.entries(answers).map(([status, answer]) => {
      const own = examples.filter(([, example]) => isOf(status, example.status));
      return [status, describedAnswer(status, nodeOf(answer) ?? {}, route?.answers[Number(status)], own)];
    }),
  );
}

function describedAnswer(
  status: string,
  answer: Node,
  meaning: string | undefined,
  examples: readonly NamedExample[],
): Node {
  const problem = status.startsWith('4') ? PROBLEM_OF[4] : status.startsWith('5') ? PROBLEM_OF[5] : undefined;
  const described = { ...answer, description: problem ?? meaning ?? answer.description };
  const content = nodeOf(answer.content);
  if (content === undefined) return described;
  const values = present(examples, (example) => example.answer);
  const media = Object.entries(content).map(([type, each]) => [
    problem === undefined ? type : PROBLEM,
    withExamples(nodeOf(each) ?? {}, values),
  ]);
  return { ...described, content: Object.fromEntries(media) };
}

/** `4XX` stands for all of its kind. */
function isOf(answer: string, status: number): boolean {
  return answer === String(status) || answer === `${Math.floor(status / 100)}XX`;
}

function present(examples: readonly NamedExample[], value: (example: RouteExample) => unknown): readonly NamedValue[] {
  return examples.flatMap(([name, example]) => {
    const found = value(example);
    return found === undefined ? [] : [[name, found] as const];
  });
}

function withExamples(place: Node, values: readonly NamedValue[]): Node {
  if (values.length === 0) return place;
  return { ...place, examples: Object.fromEntries(values.map(([name, value]) => [name, { value }])) };
}

/** `postJobsRetry` for `POST /v1/jobs/retry`. */
function operationId(method: string, path: string): string {
  const words = path.match(/[a-z]+/gi)?.filter((word) => word !== 'v') ?? ['root'];
  return [method, ...words.map((word) => word.charAt(0).toUpperCase() + word.slice(1))].join('');
}

function mapped(node: Node, change: (value: Node) => Node): Node {
  return Object.fromEntries(Object.entries(node).map(([name, value]) => [name, change(nodeOf(value) ?? {})]));
}

/** The value as an object of a document, if it is one. */
export function nodeOf(value: unknown): Node | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined;
}
