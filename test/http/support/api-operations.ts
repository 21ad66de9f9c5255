import { type Node, nodeOf } from '../../../src/http/described/describe-operation.js';
import type { ApiRequest } from './ask.js';
import { KEYS } from './test-config.js';

/** A parameter of the path, the query or the headers. */
export interface Parameter {
  readonly in: string;
  readonly name: string;
  readonly required: boolean;
  readonly description: unknown;
  readonly schema: Node;
  readonly examples: Node;
}

/** What an OpenAPI document says of one route and method. */
export interface Operation {
  /** As in `POST /v1/jobs`. */
  readonly title: string;
  readonly method: string;
  readonly path: string;
  readonly node: Node;
  readonly parameters: readonly Parameter[];
  /** Schema of the JSON that is sent; absent where none is. */
  readonly body: Node | undefined;
  readonly bodyExamples: Node;
  /** By status, which may be `4XX`. */
  readonly answers: readonly Answer[];
  /** Which key opens it: the name of a security scheme, or `none`. */
  readonly key: string;
}

export interface Answer {
  readonly status: string;
  readonly description: unknown;
  /** Absent where there is no body. */
  readonly media: string | undefined;
  readonly schema: Node;
  readonly examples: Node;
}

/** All operations of a document, in its order. */
export function operationsOf(document: Node): readonly Operation[] {
  const security = document.security;
  return entries(document.paths).flatMap(([path, item]) =>
    entries(item).map(([method, node]) => operationOf(path, method, node, security)),
  );
}

/** The headers that open an operation. */
export function keyFor({ title, key }: Operation): Record<string, string> {
  const headers = KEY_HEADERS[key];
  if (headers === undefined) throw new Error(`${title}: KEY_HEADERS has no key of the scheme "${key}"`);
  return headers;
}

const KEY_HEADERS: Readonly<Record<string, Record<string, string>>> = {
  none: {},
  key: { authorization: `Bearer ${KEYS.acme}` },
  admin: { authorization: `Bearer ${KEYS.admin}` },
  worker: { authorization: `Bearer ${KEYS.worker}` },
  gateway: { 'x-headgate-gateway-key': KEYS.gateway },
};

/** One request of the document, and what it says will be answered. */
export interface DocumentedExample {
  readonly title: string;
  readonly operation: Operation;
  readonly name: string;
  readonly request: ApiRequest;
  readonly answer: Answer | undefined;
  /** The body of the answer; absent where there is none. */
  readonly expected: unknown;
}

/** The examples of an operation: all that stands under one name, wherever that is. */
export function examplesOf(operation: Operation): readonly DocumentedExample[] {
  const { title, parameters, bodyExamples, answers } = operation;
  const places = [...parameters, { examples: bodyExamples }, ...answers].map(({ examples }) => examples);
  const names = new Set(places.flatMap((examples) => Object.keys(examples)));
  return [...names].map((name) => {
    // What has no body cannot show one.
    const answer = answers.find(({ examples }) => name in examples) ?? answers.find(({ media }) => media === undefined);
    return {
      title: `${title}: ${name}`,
      operation,
      name,
      request: requestOf(operation, name),
      answer,
      expected: answer && valueIn(answer.examples, name),
    };
  });
}

/** A request with these parameters; the path is filled in. */
export function requestTo(
  { method, path }: Operation,
  parts: { readonly path?: Node; readonly query?: Node; readonly headers?: Node; readonly body?: unknown },
): ApiRequest {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(parts.path?.[name])));
  const query = new URLSearchParams(texts(parts.query)).toString();
  const url = query === '' ? filled : `${filled}?${query}`;
  const content = parts.body === undefined ? {} : { 'content-type': 'application/json' };
  return {
    ...{ method, url, headers: { ...texts(parts.headers), ...content } },
    ...(parts.body !== undefined && { body: JSON.stringify(parts.body) }),
  };
}

/** The parts of the request of one example. */
export function sentBy(
  { parameters, bodyExamples }: Operation,
  name: string,
): { readonly path: Node; readonly query: Node; readonly headers: Node; readonly body?: unknown } {
  const at = (place: string): Node =>
    Object.fromEntries(
      parameters
        .filter((each) => each.in === place && name in each.examples)
        .map((each) => [each.name, valueIn(each.examples, name)]),
    );
  return { path: at('path'), query: at('query'), headers: at('header'), body: valueIn(bodyExamples, name) };
}

function requestOf(operation: Operation, name: string): ApiRequest {
  const sent = sentBy(operation, name);
  return requestTo(operation, { ...sent, headers: { ...sent.headers, ...keyFor(operation) } });
}

function valueIn(examples: Node, name: string): unknown {
  return nodeOf(examples[name])?.value;
}

function operationOf(path: string, method: string, node: Node, security: unknown): Operation {
  const content = contentOf(nodeOf(node.requestBody));
  return {
    title: `${method.toUpperCase()} ${path}`,
    method: method.toUpperCase(),
    path,
    node,
    parameters: [node.parameters ?? []].flat().map((each) => parameterOf(nodeOf(each) ?? {})),
    body: content && nodeOf(content.node.schema),
    bodyExamples: nodeOf(content?.node.examples) ?? {},
    answers: entries(node.responses).map(([status, answer]) => answerOf(status, answer)),
    key: schemeOf(node.security ?? security),
  };
}

function parameterOf(node: Node): Parameter {
  return {
    in: String(node.in),
    name: String(node.name),
    required: node.required === true,
    description: node.description,
    schema: nodeOf(node.schema) ?? {},
    examples: nodeOf(node.examples) ?? {},
  };
}

function answerOf(status: string, node: Node): Answer {
  const content = contentOf(node);
  return {
    status,
    description: node.description,
    media: content?.media,
    schema: nodeOf(content?.node.schema) ?? {},
    examples: nodeOf(content?.node.examples) ?? {},
  };
}

function contentOf(node: Node | undefined): { readonly media: string; readonly node: Node } | undefined {
  const [first] = entries(node?.content);
  return first && { media: first[0], node: first[1] };
}

function schemeOf(security: unknown): string {
  const [first] = [security].flat();
  return Object.keys(nodeOf(first) ?? {})[0] ?? 'none';
}

function entries(value: unknown): [string, Node][] {
  return Object.entries(nodeOf(value) ?? {}).map(([name, each]) => [name, nodeOf(each) ?? {}]);
}

function texts(node: Node = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(node).map(([name, value]) => [name, String(value)]));
}
