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
      startBy: mostly(fc.constantFrom('2099-12-31T23:59:59.999+14:00', '2150-01-01T00:00:00Z')),
      cost: mostly(fc.integer({ min: 1, max: 100 })),
      tenant: mostly(fc.constantFrom('acme', 'acme', 'small')),
    },
    { requiredKeys: ['type', 'data', 'tenant'] },
  )
  .chain((sound) =>
    fc.option(fc.dictionary(oddText, oddValue, { maxKeys: 1 }), { freq: 8 }).map((odd) => ({ ...sound, ...odd })),
  );

const item = fc
  .tuple(job, fc.constantFrom({}, {}, { idempotencyKey: 'a' }, { idempotencyKey: '' }))
  .map(([fields, key]) => ({ ...fields, ...key }));

const batch = fc.oneof(
  fc.record({ jobs: fc.array(item, { maxLength: 3 }) }),
  fc.record({ jobs: oddValue, tenant: oddValue }, { requiredKeys: [] }),
);

/** Text that is JSON, nearly JSON, or nothing like it. JSON of numbers that no double can hold is among it. */
const body: fc.Arbitrary<string | Buffer> = fc.oneof(
  { weight: 6, arbitrary: fc.oneof(job, batch, oddValue).map((value) => JSON.stringify(value)) },
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
  authorization: mostlySaying(fc.constantFrom(KEYS.admin, ...Object.values(KEYS)).map((key) => `Bearer ${key}`)),
  'content-type': mostlySaying(fc.constantFrom('application/json', 'application/json; charset=utf-8')),
  odd: fc.dictionary(
    fc.constantFrom(...['idempotency-key', 'x-request-id', 'accept', 'prefer', 'accept-version', 'expect', 'host']),
    headerValue,
    { maxKeys: 1 },
  ),
  encoding: fc.option(headerValue, { freq: 12 }),
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
      fc.constantFrom('/v1/jobs', '/v1/jobs/batch', '/v1/types', '/v1/limits', '/healthz', '/readyz', '/', '/v1/nope'),
      fc
        .oneof(encoded, fc.constantFrom('01m8mderehyt2wrpdcvfkfdhj7.chat.0', '%', '%ff', '..'))
        .map((id) => `/v1/jobs/${id}`),
    ),
    fc.oneof({ weight: 2, arbitrary: fc.constant('') }, query),
  )
  .map(([path, text]) => (text === '' ? path : `${path}?${text}`));

interface Route {
  readonly method: 'GET' | 'POST' | 'DELETE' | 'PUT' | 'HEAD';
  readonly url: string;
  readonly payload?: string | Buffer;
}

const known: fc.Arbitrary<Route> = fc.oneof(
  job.map((value): Route => ({ method: 'POST', url: '/v1/jobs', payload: JSON.stringify(value) })),
  batch.map((value): Route => ({ method: 'POST', url: '/v1/jobs/batch', payload: JSON.stringify(value) })),
  query.map((text): Route => ({ method: 'GET', url: `/v1/jobs?type=chat&state=waiting&${text}` })),
);

const any: fc.Arbitrary<Route> = fc
  .record({ method: fc.constantFrom('GET', 'POST', 'DELETE', 'PUT', 'HEAD'), url, body })
  .map(({ method, url: address, body: payload }): Route => {
    return method === 'GET' || method === 'HEAD' ? { method, url: address } : { method, url: address, payload };
  });

/** Any request that can be made, weighted towards those that get far. */
export const requestArbitrary: fc.Arbitrary<InjectOptions> = fc
  .tuple(fc.oneof({ weight: 4, arbitrary: known }, { weight: 1, arbitrary: any }), headers)
  .map(([route, { odd, encoding, ...usual }]): InjectOptions => {
    const extra = encoding === null ? {} : { 'content-encoding': encoding };
    return { ...route, headers: { ...usual, ...extra, ...odd } };
  });

/** Sound nine times out of ten: a job has many fields, and one fault hides those behind it. */
function mostly(sound: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  return fc.oneof({ weight: 9, arbitrary: sound }, { weight: 1, arbitrary: oddValue });
}

function mostlySaying(sound: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return fc.oneof({ weight: 9, arbitrary: sound }, { weight: 1, arbitrary: headerValue });
}
