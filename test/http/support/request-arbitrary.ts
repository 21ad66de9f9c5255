import fc from 'fast-check';
import type { InjectOptions } from 'fastify';
import { KEYS } from './test-config.js';

/** Text that people, programs and attackers put where a value belongs. */
const oddText = fc.oneof(
  fc.constantFrom(...['', ' ', ' 5 ', '0x10', '1e400', 'NaN', 'null', '-1', '[]', '{}', '__proto__', 'constructor']),
  fc.constantFrom(...['waiting', 'chat', 'ocr', 'acme', '2026-12-01T00:00:00Z', '1~x', '\u0000', '\ud800', '%zz', 'é']),
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.string({ minLength: 300, maxLength: 400 }),
);

const oddNumber = fc.oneof(
  fc.constantFrom(0, -0, -1, 0.5, 9, 10, 2 ** 31, 2 ** 53, 1e21, 1e308, 315_576_000_001),
  fc.integer({ min: -20, max: 20 }),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
);

const oddValue: fc.Arbitrary<unknown> = fc.oneof(
  oddText,
  oddNumber,
  fc.constantFrom(null, true, false, [], {}, [[]], { a: 1 }),
  fc.jsonValue({ maxDepth: 3 }),
);

/** A job that is sound in some fields and odd in others. */
const job = fc
  .record(
    {
      type: mostly(fc.constantFrom('chat', 'ocr', 'llm')),
      data: mostly(fc.constantFrom({}, { pages: 3 })),
      priority: mostly(fc.integer({ min: 0, max: 9 })),
      delayMs: mostly(fc.constantFrom(0, 1000, 315_576_000_000)),
      runAt: mostly(fc.constantFrom('2020-01-01T00:00:00Z', '2030-01-01T00:00:00+01:00')),
      startBy: mostly(fc.constantFrom('2099-12-31T23:59:59.999+14:00', '2150-01-01T00:00:00Z')),
      cost: mostly(fc.integer({ min: 1, max: 100 })),
      tenant: mostly(fc.constantFrom('acme', 'acme', 'small')),
    },
    { requiredKeys: ['type', 'data', 'tenant'] },
  )
  .chain((sound) => seldom(fc.dictionary(oddText, oddValue, { maxKeys: 1 })).map((odd) => ({ ...sound, ...odd })));

const item = fc
  .tuple(job, fc.constantFrom({}, {}, { idempotencyKey: 'a' }, { idempotencyKey: '' }))
  .map(([fields, key]) => ({ ...fields, ...key }));

const batch = fc.oneof(
  fc.record({ jobs: fc.array(item, { maxLength: 3 }) }),
  fc.record({ jobs: oddValue, tenant: oddValue }, { requiredKeys: [] }),
);

/** A question to a policy that is sound in some fields and odd in others. */
const check = fc
  .record(
    {
      policy: mostly(fc.constantFrom('api', 'pay', 'tight', 'tight', 'watched')),
      key: mostly(fc.constantFrom('a', '\u0000', '{a}', '__proto__')),
      cost: mostly(fc.constantFrom(1, 1, 0.5, 1e-6, 10, 1e9)),
      peek: mostly(fc.boolean()),
      tenant: mostly(fc.constantFrom('acme', 'acme', 'small')),
    },
    { requiredKeys: ['policy', 'tenant'] },
  )
  .chain((sound) => seldom(fc.dictionary(oddText, oddValue, { maxKeys: 1 })).map((odd) => ({ ...sound, ...odd })));

/** Text that is JSON, nearly JSON, or nothing like it. JSON of numbers that no double can hold is among it. */
const body: fc.Arbitrary<string | Buffer> = fc.oneof(
  { weight: 6, arbitrary: fc.oneof(job, batch, check, oddValue).map((value) => JSON.stringify(value)) },
  { weight: 1, arbitrary: job.map((value) => JSON.stringify(value).replace(/\d+/, '1e400')) },
  { weight: 1, arbitrary: job.map((value) => JSON.stringify(value).slice(0, -2)) },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 30 }).map((bytes) => Buffer.from(bytes)) },
);

/** What may stand in a header at all: visible Latin-1 and blanks inside. */
const headerValue = fc.oneof(
  fc.constantFrom('', 'a', 'two words', '1~x', 'gzip', 'identity', 'application/json', 'text/plain', '0'),
  fc.string({ unit: fc.integer({ min: 0x20, max: 0xff }).map((code) => String.fromCharCode(code)), maxLength: 30 }),
);

const headers = fc.record({
  authorization: mostlySaying(
    fc.constantFrom(KEYS.admin, KEYS.admin, KEYS.acme, KEYS.small).map((key) => `Bearer ${key}`),
  ),
  'content-type': mostlySaying(fc.constantFrom('application/json', 'application/json; charset=utf-8')),
  'x-headgate-gateway-key': mostlySaying(fc.constantFrom(KEYS.gateway, KEYS.admin)),
  odd: fc.dictionary(
    fc.constantFrom(
      ...['idempotency-key', 'x-request-id', 'accept', 'prefer', 'accept-version', 'expect', 'host'],
      ...['x-headgate-subject', 'x-headgate-tier', 'x-forwarded-for', 'x-forwarded-uri', 'x-original-method'],
    ),
    headerValue,
    { maxKeys: 1 },
  ),
  original: fc.option(
    fc.record({
      'x-original-method': mostlySaying(fc.constantFrom('GET', 'HEAD', 'POST')),
      'x-original-uri': mostlySaying(fc.constantFrom('/reports/7', '/files/a/b?c', '/elsewhere', '*', '/%2e%2e;/x')),
    }),
    { freq: 3 },
  ),
  encoding: seldom(headerValue),
});

const encoded = oddText.filter((text) => !/\p{Cs}/u.test(text)).map(encodeURIComponent);

const query = fc
  .array(
    fc.tuple(
      fc.oneof(fc.constantFrom('type', 'state', 'tenant', 'limit', 'cursor', 'x'), encoded),
      fc.oneof(
        fc.constantFrom('chat', 'waiting', 'failed', 'acme', '10', '1~x'),
        encoded,
        fc.constantFrom('%', '%ff', '&', '='),
      ),
    ),
    { maxLength: 5 },
  )
  .map((pairs) => pairs.map(([name, value]) => `${name}=${value}`).join('&'));

const url = fc
  .tuple(
    fc.oneof(
      fc.constantFrom(
        '/v1/jobs',
        '/v1/jobs/batch',
        '/v1/types',
        '/v1/limits',
        '/v1/quote',
        '/healthz',
        '/readyz',
        '/',
        '/v1/nope',
      ),
      fc.constantFrom('/v1/check', '/v1/forward-auth', '/v1/policies'),
      fc
        .oneof(encoded, fc.constantFrom('01m8mderehyt2wrpdcvfkfdhj7.chat.0', '%', '%ff', '..'))
        .map((id) => `/v1/jobs/${id}`),
    ),
    fc.oneof({ weight: 2, arbitrary: fc.constant('') }, query),
  )
  .map(([path, text]) => (text === '' ? path : `${path}?${text}`));

/** What a gateway asks, sound in some parameters and odd in others. */
const gatewayQuery = fc
  .record(
    {
      policy: mostlySaying(fc.constantFrom('api', 'pay', 'tight', 'tight', 'watched', 'nope')),
      cost: mostlySaying(fc.constantFrom('1', '1', '0.5', '10', '0', '0x10')),
      deny: mostlySaying(fc.constantFrom('403', '429')),
    },
    { requiredKeys: [] },
  )
  .map((parameters) => new URLSearchParams(parameters).toString());

const METHODS = ['GET', 'POST', 'DELETE', 'PUT', 'HEAD', 'OPTIONS', 'PATCH'] as const;

interface Route {
  readonly method: (typeof METHODS)[number];
  readonly url: string;
  readonly payload?: string | Buffer;
}

const known: fc.Arbitrary<Route> = fc.oneof(
  job.map((value): Route => ({ method: 'POST', url: '/v1/jobs', payload: JSON.stringify(value) })),
  batch.map((value): Route => ({ method: 'POST', url: '/v1/jobs/batch', payload: JSON.stringify(value) })),
  check.map((value): Route => ({ method: 'POST', url: '/v1/check', payload: JSON.stringify(value) })),
  fc
    .tuple(fc.constantFrom(...METHODS), fc.oneof(gatewayQuery, query))
    .map(([method, text]): Route => ({ method, url: `/v1/forward-auth?${text}` })),
  query.map((text): Route => ({ method: 'GET', url: `/v1/jobs?type=chat&state=waiting&${text}` })),
);

const any: fc.Arbitrary<Route> = fc
  .record({ method: fc.constantFrom(...METHODS), url, body })
  .map(({ method, url: address, body: payload }): Route => {
    return method === 'GET' || method === 'HEAD' ? { method, url: address } : { method, url: address, payload };
  });

/** Any request that can be made, weighted towards those that get far. */
export const requestArbitrary: fc.Arbitrary<InjectOptions> = fc
  .tuple(fc.oneof({ weight: 4, arbitrary: known }, { weight: 1, arbitrary: any }), headers)
  .map(([route, { odd, encoding, original, ...usual }]): InjectOptions => {
    const extra = encoding === null ? {} : { 'content-encoding': encoding };
    return { ...route, headers: { ...usual, ...extra, ...original, ...odd } };
  });

/** Sound nine times out of ten: a job has many fields, and one fault hides those behind it. */
function mostly(sound: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  return fc.oneof({ weight: 9, arbitrary: sound }, { weight: 1, arbitrary: oddValue });
}

/** Absent nine times out of ten: what every request has in common hides what is behind it. */
function seldom<T>(odd: fc.Arbitrary<T>): fc.Arbitrary<T | null> {
  return fc.oneof({ weight: 9, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: odd });
}

function mostlySaying(sound: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return fc.oneof({ weight: 9, arbitrary: sound }, { weight: 1, arbitrary: headerValue });
}
