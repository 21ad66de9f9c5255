import fc from 'fast-check';
import { type Node, nodeOf } from '../../../../src/http/described/describe-operation.js';
import type { Operation, Parameter } from '../../../http/support/api-operations.js';
import type { ApiRequest } from '../../../http/support/ask.js';
import { mostly, oddHeader, oddText, oddValue, seldom } from './odd-values.js';
import { type Meaningful, valueOfSchema } from './value-of-schema.js';

/** What requests are made of, beside the document. */
export interface Material {
  readonly meaningful: Meaningful;
  /** Headers that show a key, as whom one may ask. */
  readonly keys: readonly Readonly<Record<string, string>>[];
}

/** Any request to any of the operations, weighted towards those that get far. */
export function fuzzedRequest(operations: readonly Operation[], material: Material): fc.Arbitrary<ApiRequest> {
  return fc.oneof(
    ...operations.map((operation) => {
      // What a gateway asks is the same by every method.
      const weight = operation.path.startsWith('/v1/jobs') ? 6 : operation.key === 'gateway' ? 1 : 2;
      return { weight, arbitrary: requestTo(operation, material) };
    }),
  );
}

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND'] as const;

const ODD_HEADERS = fc.dictionary(
  fc.constantFrom(
    ...['content-type', 'content-encoding', 'idempotency-key', 'x-request-id', 'accept', 'prefer', 'expect', 'host'],
    ...['x-forwarded-for', 'x-forwarded-uri', 'x-original-method', 'x-headgate-tier', 'last-event-id', 'authorization'],
  ),
  oddHeader,
  { maxKeys: 2 },
);

function requestTo(operation: Operation, material: Material): fc.Arbitrary<ApiRequest> {
  const at = (place: string) => operation.parameters.filter((each) => each.in === place);
  return fc
    .record({
      method: mostly(fc.constant(operation.method), fc.constantFrom(...METHODS)),
      path: pathOf(operation.path, at('path'), material.meaningful),
      query: queryOf(at('query'), material.meaningful),
      key: fc.constantFrom(...material.keys),
      headers: valuesOf(at('header'), material.meaningful),
      odd: seldom(ODD_HEADERS),
      body: bodyOf(operation, material.meaningful),
    })
    .map(({ method, path, query, key, headers, odd, body }): ApiRequest => {
      const url = query === '' ? path : `${path}?${query}`;
      const content = body === undefined ? {} : { 'content-type': 'application/json' };
      const all = { ...content, ...key, ...headers, ...odd };
      return { method, url, headers: all, ...(body !== undefined && { body }) };
    });
}

function pathOf(pattern: string, parameters: readonly Parameter[], meaningful: Meaningful): fc.Arbitrary<string> {
  const steps = parameters.map(({ name, schema }) =>
    mostly(
      valueOfSchema(name, schema, meaningful).map((value) => encoded(String(value))),
      fc.oneof(oddText.map(encoded), fc.constantFrom('%', '%ff', '..', '%2e%2e', '%00', '')),
    ),
  );
  return fc.tuple(...steps).map((values) => {
    const left = [...values];
    return pattern.replace(/\{\w+\}/g, () => left.shift() ?? '');
  });
}

function queryOf(parameters: readonly Parameter[], meaningful: Meaningful): fc.Arbitrary<string> {
  const pairs = parameters.map(({ name, schema, required }) => {
    const pair = mostly(valueOfSchema(name, schema, meaningful), oddText).map((value) => [
      `${name}=${encoded(`${value}`)}`,
    ]);
    return required ? mostly(pair, fc.constant([])) : fc.oneof(pair, fc.constant<string[]>([]));
  });
  const odd = fc.oneof(
    fc.tuple(oddText, oddText).map((pair) => pair.map(encoded).join('=')),
    fc.constantFrom('%', '&', '=', 'limit=1&limit=2', 'x', 'type=%ff', '?'),
  );
  return fc.tuple(fc.tuple(...pairs), seldom(odd)).map(([given, more]) => {
    return [...given.flat(), ...(more === undefined ? [] : [more])].join('&');
  });
}

function valuesOf(parameters: readonly Parameter[], meaningful: Meaningful): fc.Arbitrary<Record<string, string>> {
  const values = parameters.map(({ name, schema }) =>
    fc
      .option(
        mostly(
          valueOfSchema(name, schema, meaningful).map((value) => headerText(String(value))),
          oddHeader,
        ),
        { freq: 2 },
      )
      .map((value): [string, string][] => (value === null ? [] : [[name, value]])),
  );
  return fc.tuple(...values).map((pairs) => Object.fromEntries(pairs.flat()));
}

/** What the route takes, with something odd in it now and then; text that is nearly JSON; nothing like it. */
function bodyOf(
  { body, bodyExamples, method }: Operation,
  meaningful: Meaningful,
): fc.Arbitrary<string | Buffer | undefined> {
  const nonsense = fc.oneof(
    fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)),
    fc.constantFrom('', '{', '[1', '"\\ud800"', '{"a":1e400}', `${'['.repeat(200)}${']'.repeat(200)}`, '\ufeff{}'),
    oddValue.map((value) => JSON.stringify(value)),
  );
  if (body === undefined) return method === 'GET' ? fc.constant(undefined) : seldom(nonsense);
  const examples = Object.values(bodyExamples).map((each) => nodeOf(nodeOf(each)?.value) ?? {});
  const base = valueOfSchema('', body, meaningful);
  const sound =
    examples.length === 0 ? base : fc.oneof(base, fc.constantFrom(...examples), fc.constantFrom(...examples));
  const strange = fc
    .tuple(sound, fc.dictionary(fc.oneof(oddText, fc.constantFrom(...memberNames(body))), oddValue, { maxKeys: 2 }))
    .map(([value, odd]) => ({ ...nodeOf(value), ...odd }));
  const texts = fc
    .oneof({ weight: 4, arbitrary: sound }, { weight: 1, arbitrary: strange })
    .map((value) => JSON.stringify(value));
  return fc.oneof(
    { weight: 8, arbitrary: texts },
    {
      weight: 1,
      arbitrary: fc.tuple(texts, fc.nat({ max: 99 })).map(([text, cut]) => text.slice(0, (text.length * cut) / 100)),
    },
    { weight: 1, arbitrary: nonsense },
  );
}

function memberNames(schema: Node): readonly string[] {
  return ['zz', ...Object.keys(nodeOf(schema.properties) ?? {})];
}

function encoded(text: string): string {
  return encodeURIComponent(text.replace(/\p{Cs}/gu, '\ufffd'));
}

function headerText(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, '?');
}
