import { Compile } from 'typebox/schema';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Node, nodeOf } from '../../src/http/described/describe-operation.js';
import { startRedis, type TestRedis } from '../support/redis-server.js';
import { apiDocument } from './support/api-document.js';
import { type DocumentedExample, examplesOf, type Operation, operationsOf } from './support/api-operations.js';
import { type ApiAnswer, ask } from './support/ask.js';
import { exampleWorld } from './support/example-world.js';

const operations = operationsOf(await apiDocument());
const examples = operations.flatMap(examplesOf);

let server: TestRedis;
beforeAll(async () => {
  server = await startRedis();
});
afterAll(() => server.stop());

test.each(operations.map((operation) => [operation.title, operation] as const))(
  '%s is described',
  (title, operation) => {
    expect(unsaid(operation).join(', '), `${title}: src/http/described lacks`).toBe('');
  },
);

test('operations have ids of their own', () => {
  const ids = operations.map(({ node }) => node.operationId);
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids).toContain('postJobsIdRetry');
});

describe('every example of the document', () => {
  test.each(examples.map((example) => [example.title, example] as const))('%s', async (_, example) => {
    const world = await exampleWorld(server);
    try {
      await expectAsDocumented(example, await ask(world.url, example.request));
    } finally {
      await world.close();
    }
  });
});

/** What the document leaves out of an operation. */
function unsaid(operation: Operation): string[] {
  const { node, parameters, answers } = operation;
  const shown = new Set(examplesOf(operation).map(({ answer }) => answer?.status));
  return [
    ...['summary', 'description', 'operationId'].filter((name) => !node[name]),
    ...parameters.filter(({ description }) => !description).map(({ name }) => `a description of ${name}`),
    ...answers
      .filter(({ description }) => !description || description === 'Default Response')
      .map(({ status }) => `what the answer ${status} means`),
    ...answers
      .filter(({ status }) => Number(status) < 400 && !shown.has(status))
      .map(({ status }) => `an example that is answered ${status}`),
  ];
}

async function expectAsDocumented(example: DocumentedExample, response: ApiAnswer): Promise<void> {
  const { answer, expected } = example;
  if (answer === undefined) throw new Error(`the document does not say what is answered`);
  const problem = nodeOf(expected)?.status;
  const status = answer.status.endsWith('XX') ? problem : Number(answer.status);
  expect([response.status, response.body.slice(0, 300)]).toEqual([status, expect.anything()]);
  if (answer.media === undefined) return expect(response.body).toBe('');
  expect(response.headers['content-type']).toMatch(new RegExp(`^${answer.media.replace(/[+.]/g, '\\$&')}`));
  if (answer.media === 'text/event-stream') {
    expect(messagesIn(response.body)).toEqual(messagesIn(String(expected)));
    return;
  }
  const schema = Compile(closed(answer.schema));
  const body: unknown = JSON.parse(response.body);
  expect(schema.Errors(body)[1], `the schema, of ${response.body.slice(0, 500)}`).toEqual([]);
  expect(schema.Errors(expected)[1], 'the schema, of the example').toEqual([]);
  expect(
    lacking(expected, body),
    `what the example has and the answer has not: ${response.body.slice(0, 500)}`,
  ).toEqual([]);
}

/** Event and id of each message of a stream. */
function messagesIn(stream: string): string[] {
  return stream.split('\n\n').map((message) => message.replace(/data: .*/s, ''));
}

/** The same schema, which knows no other members than those that it names. */
function closed(schema: Node): Node {
  const inner = Object.entries(schema).map(([name, value]) => [name, closedIn(value)]);
  const isOpen = schema.properties !== undefined && schema.additionalProperties === undefined;
  return { ...Object.fromEntries(inner), ...(isOpen && { additionalProperties: false }) };
}

function closedIn(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closedIn);
  const node = nodeOf(value);
  return node === undefined ? value : closed(node);
}

/** Places that `example` has and `real` lacks. */
function lacking(example: unknown, real: unknown, at = ''): string[] {
  if (Array.isArray(example)) {
    const has = Array.isArray(real) ? real : [];
    return example.flatMap((each, i) => (i < has.length ? lacking(each, has[i], `${at}[${i}]`) : [`${at}[${i}]`]));
  }
  return Object.entries(nodeOf(example) ?? {}).flatMap(([name, value]) => {
    const has = nodeOf(real);
    return has !== undefined && name in has ? lacking(value, has[name], `${at}.${name}`) : [`${at}.${name}`];
  });
}
