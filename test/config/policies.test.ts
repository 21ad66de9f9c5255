import { readFile } from 'node:fs/promises';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { PolicyConfig } from '../../src/config/config.js';
import { defaultBurst } from '../../src/config/policy-limits.js';
import type { Limit } from '../../src/model/limit.js';
import { loadText } from './loading.js';

const bucket = (ratePerSecond: number, burst: number, name = 'burst', per: Limit['per'] = 'key'): Limit => ({
  algorithm: 'token-bucket',
  name,
  per,
  ratePerSecond,
  burst,
});

const DEFAULTS: Omit<PolicyConfig, 'name'> = {
  place: 'redis',
  limits: [],
  byTier: new Map(),
  onOutage: 'open',
  enforce: true,
  retryJitter: 0,
  deadlineMs: 30,
  maxKeys: 100_000,
  share: 1,
  leaseMs: 1000,
};

/** The policy that is written so, in a file with the tiers `pro` and `internal`. */
async function policy(written: string): Promise<PolicyConfig | undefined> {
  const config = await loadText(`types: {}\ntiers: { pro: {}, internal: {} }\npolicies:\n  p: ${written}\n`);
  return config.policies.get('p');
}

describe('a policy', () => {
  const rows: [string, string, Partial<PolicyConfig>][] = [
    [
      'is a token bucket in Redis, open in an outage, unless it says otherwise',
      '{ rate: 2/s, burst: 100 }',
      { limits: [bucket(2, 100)] },
    ],
    [
      'may say all of that',
      '{ algorithm: token-bucket, rate: 2/s, burst: 100, onOutage: open, enforce: true, retryJitter: 0, deadline: 30ms, byTier: {} }',
      { limits: [bucket(2, 100)] },
    ],
    [
      'has other limits by tier, each complete by itself',
      '{ rate: 2/s, burst: 100, byTier: { anonymous: { rate: 50/m, burst: 50 }, pro: { rate: 2000/m, burst: 2000 }, internal: { rate: unlimited }, default: { rate: 7/s } } }',
      {
        limits: [bucket(2, 100)],
        byTier: new Map([
          ['anonymous', [bucket(50 / 60, 50)]],
          ['pro', [bucket(2000 / 60, 2000)]],
          ['internal', []],
          ['default', [bucket(7, 7)]],
        ]),
      },
    ],
    [
      'may be an exact window',
      '{ algorithm: sliding-window-log, limit: 60, window: 1m, onOutage: closed }',
      {
        limits: [{ algorithm: 'sliding-window-log', name: 'window', per: 'key', limit: 60, windowMs: 60_000 }],
        onOutage: 'closed',
      },
    ],
    [
      'may be an approximate window, shared by all callers, under a name of its own',
      '{ algorithm: sliding-window-counter, limit: 1, window: 1ms, per: policy, name: minute }',
      { limits: [{ algorithm: 'sliding-window-counter', name: 'minute', per: 'policy', limit: 1, windowMs: 1 }] },
    ],
    [
      'may be kept in the process',
      '{ algorithm: local, rate: 100/s, burst: 200, maxKeys: 50000, share: 0.25 }',
      { place: 'local', limits: [bucket(100, 200)], maxKeys: 50_000, share: 0.25 },
    ],
    [
      'may be leased',
      '{ algorithm: leased, rate: 1000/s, lease: 1500ms, onOutage: local }',
      { place: 'leased', limits: [bucket(1000, 1000)], leaseMs: 1500, onOutage: 'local' },
    ],
    [
      'may only look, and spread what it tells',
      '{ rate: 1/s, enforce: false, retryJitter: 0.25, deadline: 5s }',
      { limits: [bucket(1, 1)], enforce: false, retryJitter: 0.25, deadlineMs: 5000 },
    ],
    ['without a limit lets all pass', '{ rate: unlimited }', {}],
    [
      'may have several limits, each under a name of its own',
      '{ all: [ { per: key, rate: 5/s, burst: 10 }, { per: policy, rate: 500/s, burst: 500 } ] }',
      { limits: [bucket(5, 10), bucket(500, 500, 'burst-2', 'policy')] },
    ],
    [
      'may mix the algorithms of Redis',
      '{ all: [ { rate: 5/s, burst: 10 }, { algorithm: sliding-window-log, limit: 1000, window: 1d } ] }',
      {
        limits: [
          bucket(5, 10),
          { algorithm: 'sliding-window-log', name: 'window', per: 'key', limit: 1000, windowMs: 86_400_000 },
        ],
      },
    ],
    [
      'says the algorithm for all that do not say it themselves',
      '{ algorithm: sliding-window-counter, all: [ { limit: 5, window: 1s }, { algorithm: token-bucket, rate: 1/m }, { limit: 6, window: 1h } ], byTier: { pro: { limit: 9, window: 1s }, internal: { algorithm: token-bucket, rate: 9/s } } }',
      {
        limits: [
          { algorithm: 'sliding-window-counter', name: 'window', per: 'key', limit: 5, windowMs: 1000 },
          bucket(1 / 60, 1),
          { algorithm: 'sliding-window-counter', name: 'window-2', per: 'key', limit: 6, windowMs: 3_600_000 },
        ],
        byTier: new Map([
          ['pro', [{ algorithm: 'sliding-window-counter', name: 'window', per: 'key', limit: 9, windowMs: 1000 }]],
          ['internal', [bucket(9, 9)]],
        ]),
      },
    ],
    [
      'gives no limit a name that another one states',
      '{ all: [ { rate: 1/s }, { rate: 2/s, name: burst }, { rate: 3/s, name: burst-2 }, { rate: 4/s } ] }',
      { limits: [bucket(1, 1, 'burst-3'), bucket(2, 2, 'burst'), bucket(3, 3, 'burst-2'), bucket(4, 4, 'burst-4')] },
    ],
    [
      'may be kept in the process with several limits, and may say so again for a tier',
      '{ algorithm: local, all: [ { rate: 5/s }, { algorithm: token-bucket, rate: 1/s, per: policy } ], byTier: { pro: { algorithm: local, rate: 9/s } } }',
      {
        place: 'local',
        limits: [bucket(5, 5), bucket(1, 1, 'burst-2', 'policy')],
        byTier: new Map([['pro', [bucket(9, 9)]]]),
      },
    ],
    [
      'may have an unlimited one among several',
      '{ all: [ { rate: unlimited }, { rate: 1/s } ] }',
      { limits: [bucket(1, 1)] },
    ],
    [
      'takes the extremes',
      '{ rate: 1e-6/s, burst: 315, byTier: { pro: { rate: 1000000/s, burst: 1000000000 } } }',
      { limits: [bucket(1e-6, 315)], byTier: new Map([['pro', [bucket(1e6, 1e9)]]]) },
    ],
  ];
  test.each(rows)('%s: %s', async (_what, written, stated) => {
    expect(await policy(written)).toEqual({ ...DEFAULTS, name: 'p', ...stated });
  });
});

test('policies alone make a configuration: no type is needed', async () => {
  const config = await loadText('types: {}\npolicies: { api: { rate: 2/s, burst: 100 } }\n');
  expect([...config.policies.keys()]).toEqual(['api']);
  expect(config.types.size).toBe(0);
});

test('a burst that is not stated holds the units of one second, rounded up, and at least one', () => {
  const rows = [
    [1e-6, 1],
    [0.5, 1],
    [1, 1],
    [70 / 60, 2],
    [3000 / 60, 50],
    [33.4, 34],
    [1e6, 1e6],
  ] as const;
  for (const [rate, burst] of rows) expect(defaultBurst(rate), `${rate}/s`).toBe(burst);
});

test('names within a policy are always different, whatever is stated', async () => {
  const name = fc.constantFrom('burst', 'burst-2', 'window', 'window-2', 'mine');
  const kind = fc.constantFrom('rate: 1/s', 'algorithm: sliding-window-log, limit: 1, window: 1s');
  const limits = fc.uniqueArray(fc.record({ name: fc.option(name), kind }), {
    minLength: 1,
    maxLength: 8,
    selector: ({ name }) => name ?? Symbol('unnamed'),
  });
  await fc.assert(
    fc.asyncProperty(limits, async (all) => {
      const written = all.map(({ name, kind }) => `{ ${kind}${name === null ? '' : `, name: ${name}`} }`);
      const names = (await policy(`{ all: [ ${written.join(', ')} ] }`))?.limits.map(({ name }) => name) ?? [];
      expect(names).toHaveLength(all.length);
      expect(new Set(names).size).toBe(all.length);
      for (const [index, { name }] of all.entries()) if (name !== null) expect(names[index]).toBe(name);
    }),
    { numRuns: 60 },
  );
});

describe('routes', () => {
  test('keep the order of the file; a method is any, and a cost 1, unless stated', async () => {
    const config = await loadText(`
types: { ocr: { policy: api, cost: 3 } }
policies: { api: { rate: 2/s, burst: 100 } }
routes:
  - { path: /uploads/*, method: POST, policy: api, cost: 10 }
  - { path: /uploads/*, method: "*", policy: api, cost: 0.5 }
  - { path: "/users/:id", policy: api }
  - { path: "/users/:id(^\\\\d+$)/photo.:kind", policy: api }
  - { path: "/optional/:part?", policy: api }
  - { path: /, policy: api }
  - { path: /*, policy: api }
`);
    expect(config.types.get('ocr')?.policy).toBe('api');
    expect(config.routes).toEqual([
      { method: 'POST', path: '/uploads/*', policy: 'api', cost: 10 },
      { method: '*', path: '/uploads/*', policy: 'api', cost: 0.5 },
      { method: '*', path: '/users/:id', policy: 'api', cost: 1 },
      { method: '*', path: '/users/:id(^\\d+$)/photo.:kind', policy: 'api', cost: 1 },
      { method: '*', path: '/optional/:part?', policy: 'api', cost: 1 },
      { method: '*', path: '/', policy: 'api', cost: 1 },
      { method: '*', path: '/*', policy: 'api', cost: 1 },
    ]);
  });

  test('may cost what the most generous tier lets pass', async () => {
    const text =
      'types: {}\npolicies: { p: { rate: 1/s, byTier: { default: { rate: 5/s }, anonymous: { rate: unlimited } } } }\n';
    expect((await loadText(`${text}routes: [{ path: /x, policy: p, cost: 1000 }]`)).routes).toHaveLength(1);
  });
});

describe('whose X-Forwarded-For is believed', () => {
  test.each([
    ['false', false],
    ['False', false],
    ['1', 1],
    ['10', 10],
    ['loopback', ['127.0.0.0/8', '::1/128']],
    ['10.0.0.7', ['10.0.0.7/32']],
    ['10.0.0.0/8', ['10.0.0.0/8']],
    ['"fd00::/8"', ['fd00::/8']],
    ['"::ffff:10.0.0.7"', ['::ffff:10.0.0.7/128']],
    ['[loopback, 10.0.0.0/8, 192.168.1.1]', ['127.0.0.0/8', '::1/128', '10.0.0.0/8', '192.168.1.1/32']],
    ['[]', []],
  ])('%s', async (written, trustProxy) => {
    expect((await loadText(`types: {}\ntrustProxy: ${written}\n`)).trustProxy).toEqual(trustProxy);
  });

  test('nobody, where nothing is said', async () => {
    expect((await loadText('types: {}')).trustProxy).toBe(false);
  });
});

test('keys of gateways come from the file or its variables, each once', async () => {
  const key = 'gateway-key-012345';
  const config = await loadText(`types: {}\ngateways: { keys: [env:G, ${key}] }\n`, { env: { G: key } });
  expect(config.gateways).toEqual({ keys: [key] });
});

test('the examples of the documentation are right', async () => {
  const page = await readFile(new URL('../../docs/configuration.md', import.meta.url), 'utf8');
  const examples = [...page.matchAll(/```yaml\n(policies:[\s\S]*?)```/g)].map(([, text]) => text ?? '');
  expect(examples).not.toEqual([]);
  for (const example of examples) {
    const config = await loadText(`types: {}\ntiers: { free: {}, pro: {} }\ndefaultTier: free\n${example}`);
    expect(config.policies.size).toBeGreaterThan(0);
  }
});
