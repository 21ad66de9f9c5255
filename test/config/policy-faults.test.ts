import { describe, expect, test } from 'vitest';
import { problemsOf } from './loading.js';

const RATE = 'expected a rate from 0.000001/s to 1000000/s (such as 10/s, 60/m or 100/h) or unlimited';
const COUNT = 'expected a whole number from 1 to 1000000000';
const WINDOW = 'expected a duration from 1ms to 365d (such as 250ms, 60s, 5m, 1h or 2d)';
const NAME = 'expected a name of a-z, 0-9, _ and -, from a letter on, at most 40 long';
const STATEMENT = 'expected rate (and burst), limit and window, or all: a list of limits; got none of them';
const WINDOWS = 'sliding-window-log or sliding-window-counter';
const BUCKETS = 'token-bucket, local or leased';
const LIMIT_FIELDS = 'algorithm, rate, burst, limit, window, per, name';

describe('a policy that says too little, too much or the wrong thing is told, with its place', () => {
  /** Policy `p` as it is written, beside the tier `pro`; the problems. */
  const rows: [string, string[]][] = [
    ['{}', [`4:5 policies.p: ${STATEMENT}`]],
    ['{ onOutage: closed }', [`4:5 policies.p: ${STATEMENT}`]],
    ['{ per: policy }', [`4:5 policies.p.rate: required; ${RATE}`]],
    ['{ name: mine }', [`4:5 policies.p.rate: required; ${RATE}`]],
    ['{ rate: 5 }', [`4:13 policies.p.rate: ${RATE}; got 5`]],
    ['{ rate: 0 }', [`4:13 policies.p.rate: ${RATE}; got 0`]],
    ['{ rate: 0/s }', [`4:13 policies.p.rate: ${RATE}; got "0/s"`]],
    ['{ rate: 1e-7/s }', [`4:13 policies.p.rate: ${RATE}; got "1e-7/s"`]],
    ['{ rate: 1000001/s }', [`4:13 policies.p.rate: ${RATE}; got "1000001/s"`]],
    ['{ rate: null }', [`4:13 policies.p.rate: ${RATE}; got null`]],
    ['{ burst: 5 }', [`4:5 policies.p.rate: required; ${RATE}`]],
    ['{ rate: 5/s, burst: 0 }', [`4:25 policies.p.burst: ${COUNT}; got 0`]],
    ['{ rate: 5/s, burst: 1.5 }', [`4:25 policies.p.burst: ${COUNT}; got 1.5`]],
    ['{ rate: 5/s, burst: 1000000001 }', [`4:25 policies.p.burst: ${COUNT}; got 1000000001`]],
    ['{ rate: unlimited, burst: 5 }', ['4:31 policies.p.burst: an unlimited rate has no burst']],
    [
      '{ rate: 1e-6/s, burst: 316 }',
      ['4:28 policies.p.burst: 316 units at 0.0036/h take more than ten years to come back; expected at most 315'],
    ],
    [
      '{ limit: 60, window: 1m }',
      [
        `4:14 policies.p.limit: token-bucket takes rate and burst; limit goes with ${WINDOWS}`,
        `4:26 policies.p.window: token-bucket takes rate and burst; window goes with ${WINDOWS}`,
      ],
    ],
    [
      '{ rate: 5/s, limit: 60, window: 1m }',
      [
        `4:25 policies.p.limit: token-bucket takes rate and burst; limit goes with ${WINDOWS}`,
        `4:37 policies.p.window: token-bucket takes rate and burst; window goes with ${WINDOWS}`,
      ],
    ],
    [
      '{ algorithm: sliding-window-log, rate: 5/s, limit: 60, window: 1m }',
      [`4:44 policies.p.rate: sliding-window-log takes limit and window; rate goes with ${BUCKETS}`],
    ],
    [
      '{ algorithm: sliding-window-log, rate: 5/s }',
      [`4:44 policies.p.rate: sliding-window-log takes limit and window; rate goes with ${BUCKETS}`],
    ],
    [
      '{ algorithm: sliding-window-log }',
      [`4:5 policies.p.limit: required; ${COUNT}`, `4:5 policies.p.window: required; ${WINDOW}`],
    ],
    ['{ algorithm: sliding-window-counter, limit: 60 }', [`4:5 policies.p.window: required; ${WINDOW}`]],
    ['{ algorithm: sliding-window-counter, limit: 60, window: 0s }', [`4:61 policies.p.window: ${WINDOW}; got "0s"`]],
    ['{ algorithm: sliding-window-counter, limit: 60, window: 0 }', [`4:61 policies.p.window: ${WINDOW}; got 0`]],
    [
      '{ algorithm: sliding-window-counter, limit: 60, window: 366d }',
      [`4:61 policies.p.window: ${WINDOW}; got "366d"`],
    ],
    ['{ algorithm: sliding-window-counter, limit: 0, window: 1s }', [`4:49 policies.p.limit: ${COUNT}; got 0`]],
    [
      '{ algorithm: local, limit: 60, window: 1s }',
      [
        `4:32 policies.p.limit: local takes rate and burst; limit goes with ${WINDOWS}`,
        `4:44 policies.p.window: local takes rate and burst; window goes with ${WINDOWS}`,
      ],
    ],
    ['{ algorithm: leased }', [`4:5 policies.p.rate: required; ${RATE}`]],
    [
      '{ algorithm: fixed-window, limit: 60, window: 1s }',
      [
        '4:18 policies.p.algorithm: expected token-bucket, sliding-window-log, sliding-window-counter, local or leased; got "fixed-window"',
      ],
    ],
    ['{ rate: 5/s, per: tenant }', ['4:23 policies.p.per: expected key or policy; got "tenant"']],
    ['{ rate: 5/s, name: "no spaces" }', [`4:24 policies.p.name: ${NAME}; got "no spaces"`]],
    ['{ rte: 5/s }', [`4:5 policies.p: ${STATEMENT}`, '4:7 policies.p.rte: unknown field; did you mean "rate"?']],
    [
      '{ rate: 5/s, maxKeys: 5 }',
      ['4:27 policies.p.maxKeys: only algorithm local has it; this policy is token-bucket'],
    ],
    [
      '{ algorithm: leased, rate: 5/s, share: 0.5, lease: 1s }',
      ['4:44 policies.p.share: only algorithm local has it; this policy is leased'],
    ],
    [
      '{ algorithm: local, rate: 5/s, lease: 1s, maxKeys: 0, share: 0 }',
      [
        '4:43 policies.p.lease: only algorithm leased has it; this policy is local',
        '4:56 policies.p.maxKeys: expected a whole number from 1 to 10000000; got 0',
        '4:66 policies.p.share: expected a number from 0.001 to 1; got 0',
      ],
    ],
    [
      '{ algorithm: leased, rate: 5/s, lease: 99ms }',
      ['4:44 policies.p.lease: expected a duration from 100ms to 1m (such as 250ms, 60s, 5m, 1h or 2d); got "99ms"'],
    ],
    [
      '{ rate: 5/s, onOutage: maybe, enforce: no, retryJitter: 2, deadline: 0s }',
      [
        '4:28 policies.p.onOutage: expected open, closed or local; got "maybe"',
        '4:44 policies.p.enforce: expected true or false; got "no"',
        '4:61 policies.p.retryJitter: expected a number from 0 to 1; got 2',
        '4:74 policies.p.deadline: expected a duration from 1ms to 5s (such as 250ms, 60s, 5m, 1h or 2d); got "0s"',
      ],
    ],
    ['{ rate: 5/s, enforce: "true" }', ['4:27 policies.p.enforce: expected true or false; got "true"']],
    ['{ rate: 5/s, enforce: null }', ['4:27 policies.p.enforce: expected true or false; got null']],
    ['{ all: [] }', ['4:12 policies.p.all: expected a list of 1 to 8 limits; got 0']],
    ['{ all: 5 }', ['4:12 policies.p.all: expected a list of 1 to 8 limits; got 5']],
    ['{ all: { rate: 5/s } }', ['4:12 policies.p.all: expected a list of 1 to 8 limits; got a mapping']],
    ['{ all: [5] }', [`4:13 policies.p.all[0]: expected a mapping with ${LIMIT_FIELDS}; got 5`]],
    ['{ all: [{}] }', [`4:13 policies.p.all[0].rate: required; ${RATE}`]],
    [
      '{ all: [{ rate: 1/s }, { rate: 1/s }, { rate: 1/s }, { rate: 1/s }, { rate: 1/s }, { rate: 1/s }, { rate: 1/s }, { rate: 1/s }, { rate: 1/s }] }',
      ['4:12 policies.p.all: expected a list of 1 to 8 limits; got 9'],
    ],
    [
      '{ rate: 5/s, burst: 5, per: key, name: x, all: [{ rate: 1/s }] }',
      [
        '4:13 policies.p.rate: say rate or all, not both',
        '4:25 policies.p.burst: say burst or all, not both',
        '4:33 policies.p.per: say per or all, not both',
        '4:44 policies.p.name: say name or all, not both',
      ],
    ],
    [
      '{ all: [{ algorithm: local, rate: 1/s }] }',
      ['4:26 policies.p.all[0].algorithm: local is set on the policy, not on one of its limits'],
    ],
    [
      '{ algorithm: leased, all: [{ algorithm: leased, rate: 1/s }, { algorithm: sliding-window-log, limit: 1, window: 1s }] }',
      [
        '4:45 policies.p.all[0].algorithm: leased is set on the policy, not on one of its limits',
        '4:79 policies.p.all[1].algorithm: this policy is leased, which has token buckets only; got sliding-window-log',
      ],
    ],
    [
      '{ algorithm: sliding-window-log, all: [{ rate: 1/s }] }',
      [`4:52 policies.p.all[0].rate: sliding-window-log takes limit and window; rate goes with ${BUCKETS}`],
    ],
    [
      '{ all: [{ rate: 1/s, name: a }, { rate: 1/s, name: a }] }',
      ['4:56 policies.p.all[1].name: all[0] has this name too'],
    ],
    [
      '{ all: [{ rate: 1/s, all: [] }] }',
      [`4:26 policies.p.all[0].all: unknown field; the fields here are ${LIMIT_FIELDS}`],
    ],
    [
      '{ rate: 5/s, byTier: { gold: { rate: 1/s } } }',
      ['4:34 policies.p.byTier.gold: there is no tier "gold"; the tiers are pro, default, anonymous'],
    ],
    [
      '{ rate: 5/s, byTier: { prro: { rate: 1/s }, anonymus: { rate: 1/s }, constructor: { rate: 1/s } } }',
      [
        '4:34 policies.p.byTier.prro: there is no tier "prro"; did you mean "pro"?',
        '4:59 policies.p.byTier.anonymus: there is no tier "anonymus"; did you mean "anonymous"?',
        '4:87 policies.p.byTier.constructor: there is no tier "constructor"; the tiers are pro, default, anonymous',
      ],
    ],
    ['{ rate: 5/s, byTier: { pro: {} } }', [`4:33 policies.p.byTier.pro: ${STATEMENT}`]],
    ['{ rate: 5/s, byTier: { pro: { burst: 5 } } }', [`4:33 policies.p.byTier.pro.rate: required; ${RATE}`]],
    [
      '{ rate: 5/s, byTier: { pro: { algorithm: local, rate: 5/s } } }',
      ['4:46 policies.p.byTier.pro.algorithm: local is set on the policy, not on one of its tiers'],
    ],
    [
      '{ algorithm: local, rate: 5/s, byTier: { pro: { algorithm: sliding-window-log, limit: 1, window: 1s } } }',
      [
        '4:64 policies.p.byTier.pro.algorithm: this policy is local, which has token buckets only; got sliding-window-log',
      ],
    ],
    [
      '{ algorithm: sliding-window-log, limit: 1, window: 1s, byTier: { pro: { rate: 1/s } } }',
      [`4:83 policies.p.byTier.pro.rate: sliding-window-log takes limit and window; rate goes with ${BUCKETS}`],
    ],
    [
      '{ rate: 5/s, byTier: { pro: { rate: 1/s, onOutage: open } } }',
      [`4:46 policies.p.byTier.pro.onOutage: unknown field; the fields here are ${LIMIT_FIELDS}, all`],
    ],
    ['{ rate: 5/s, byTier: { Pro: { rate: 1/s } } }', [`4:28 policies.p.byTier.Pro: ${NAME}; got "Pro"`]],
    ['{ rate: 5/s, byTier: [] }', ['4:26 policies.p.byTier: expected a mapping of names ({} for none); got a list']],
    [
      '5',
      [
        `4:5 policies.p: expected a mapping with ${LIMIT_FIELDS}, all, byTier, onOutage, enforce, retryJitter, deadline, maxKeys, share, lease; got 5`,
      ],
    ],
  ];
  test.each(rows)('%s', async (policy, problems) => {
    expect(await problemsOf(`types: {}\ntiers: { pro: {} }\npolicies:\n p: ${policy}\n`)).toEqual(problems);
  });
});

test('the name of a policy is a name like others', async () => {
  expect(await problemsOf('types: {}\npolicies: { "a b": { rate: 1/s }, __proto__: { rate: 1/s } }\n')).toEqual([
    `2:13 policies["a b"]: ${NAME}; got "a b"`,
    `2:35 policies.__proto__: ${NAME}; got "__proto__"`,
  ]);
});

test('a broken policy raises no second problem where others refer to it', async () => {
  const text = `types: { x: { policy: p, cost: 9 } }
policies: { p: { rate: 5/s, burst: x, byTier: { pro: { rate: 6/s } } } }
tiers: 5
routes: [{ path: /x, policy: p, cost: 9 }, { path: x, policy: p }]
`;
  expect((await problemsOf(text)).map((problem) => problem.split(': ')[0])).toEqual([
    '2:36 policies.p.burst',
    '3:8 tiers',
    '4:52 routes[1].path',
  ]);
});

test('a section of policies that is none is told once', async () => {
  const text = 'types: { x: { policy: p } }\npolicies: 5\nroutes: [{ path: /x, policy: p }]\n';
  expect((await problemsOf(text)).map((problem) => problem.split(': ')[0])).toEqual(['2:11 policies']);
});
