import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { policedHeaders } from '../../src/http/policed-headers.js';
import type { Limit } from '../../src/model/limit.js';
import type { Decision, LimitState } from '../../src/policing/policing.js';

const BURST: Limit = { algorithm: 'token-bucket', name: 'burst', per: 'key', ratePerSecond: 2, burst: 100 };
const WINDOW: Limit = { algorithm: 'sliding-window-log', name: 'window', per: 'key', limit: 60, windowMs: 60_000 };
const SLOW: Limit = { algorithm: 'token-bucket', name: 'burst', per: 'key', ratePerSecond: 1e-6, burst: 1 };
const FAST: Limit = { algorithm: 'token-bucket', name: 'burst', per: 'key', ratePerSecond: 1e6, burst: 10 };

function decision(limits: readonly LimitState[], more: Partial<Decision> = {}): Decision {
  const [nearest] = limits;
  return {
    policy: 'api',
    allowed: true,
    outcome: 'conforming',
    decidedBy: 'policer',
    enforced: true,
    retryAfterMs: 0,
    limits,
    ...(nearest === undefined ? {} : { nearest }),
    giveBack: async () => undefined,
    ...more,
  };
}

test('every limit is told in structured fields, the nearest one in the old headers too', () => {
  const burst = { limit: BURST, remaining: 9.5, nextUnitMs: 250 };
  const window = { limit: WINDOW, remaining: 59, nextUnitMs: 59_999.5 };
  expect(policedHeaders(decision([burst, window], { nearest: window }))).toEqual({
    'ratelimit-policy': '"burst";q=100;w=50, "window";q=60;w=60',
    ratelimit: '"burst";r=9;t=1, "window";r=59;t=60',
    'x-ratelimit-limit': '60',
    'x-ratelimit-remaining': '59',
  });
});

test.each<[string, LimitState, string, string]>([
  ['whole', { limit: BURST, remaining: 100, nextUnitMs: 0 }, '"burst";q=100;w=50', '"burst";r=100'],
  ['empty', { limit: BURST, remaining: 0, nextUnitMs: 500 }, '"burst";q=100;w=50', '"burst";r=0;t=1'],
  ['slow', { limit: SLOW, remaining: 0, nextUnitMs: 1e9 }, '"burst";q=1;w=1000000', '"burst";r=0;t=1000000'],
  ['fast', { limit: FAST, remaining: 9, nextUnitMs: 0.001 }, '"burst";q=10;w=1', '"burst";r=9;t=1'],
  [
    'fractional',
    { limit: { ...BURST, burst: 2.5 }, remaining: 1.999, nextUnitMs: 0 },
    '"burst";q=2;w=2',
    '"burst";r=1',
  ],
  [
    'a whole number less what binary arithmetic took',
    { limit: BURST, remaining: 8.99999998, nextUnitMs: 500 },
    '"burst";q=100;w=50',
    '"burst";r=9;t=1',
  ],
  [
    'oddly named',
    { limit: { ...BURST, name: 'a"b\\c' }, remaining: 1, nextUnitMs: 500 },
    '"a\\"b\\\\c";q=100;w=50',
    '"a\\"b\\\\c";r=1;t=1',
  ],
])('a limit that is %s is written so', (_, state, policy, limit) => {
  expect(policedHeaders(decision([state]))).toMatchObject({ 'ratelimit-policy': policy, ratelimit: limit });
});

describe('nothing is written that is not known', () => {
  test.each<[string, Decision]>([
    ['Redis is away and everything passes', decision([], { outcome: 'unknown', decidedBy: 'open' })],
    ['the caller is unlimited', decision([])],
    [
      'the cost can never pass',
      decision([], { allowed: false, outcome: 'cost_exceeds_max', retryAfterMs: null, max: 100 }),
    ],
    ['a limit has no end', decision([{ limit: { ...BURST, burst: Infinity }, remaining: Infinity, nextUnitMs: 0 }])],
    ['a number is none', decision([{ limit: BURST, remaining: NaN, nextUnitMs: NaN }])],
    ['a name has no structured field', decision([{ limit: { ...BURST, name: 'é' }, remaining: 1, nextUnitMs: 1 }])],
  ])('where %s', (_, known) => {
    expect(policedHeaders(known)).toEqual({});
  });

  test('where a policy is closed, but when to come back', () => {
    const closed = decision([], { allowed: false, outcome: 'unknown', decidedBy: 'closed', retryAfterMs: 1000 });
    expect(policedHeaders(closed)).toEqual({ 'retry-after': '1' });
  });
});

test('who obeys Retry-After is never early, and less than a second late', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 1e12 }), (retryAfterMs) => {
      const refused = decision([], { allowed: false, outcome: 'limited', retryAfterMs });
      const seconds = Number(policedHeaders(refused)['retry-after']);
      expect(Number.isInteger(seconds)).toBe(true);
      expect(seconds * 1000).toBeGreaterThanOrEqual(retryAfterMs);
      expect((seconds - 1) * 1000).toBeLessThan(retryAfterMs);
    }),
  );
});

test('a call that passes although it is above a limit is not told to come back', () => {
  const shadow = decision([{ limit: BURST, remaining: 0, nextUnitMs: 500 }], { outcome: 'limited', enforced: false });
  expect(policedHeaders(shadow)).toMatchObject({ ratelimit: '"burst";r=0;t=1' });
  expect(policedHeaders(shadow)).not.toHaveProperty('retry-after');
});

test('any limit at all gives headers that hold integers of at most 15 digits', () => {
  const units = fc.double({ min: 1, max: 1e9, noNaN: true });
  const rate = fc.double({ min: 1e-6, max: 1e6, noNaN: true });
  fc.assert(
    fc.property(units, rate, fc.double({ min: 0, max: 1, noNaN: true }), (burst, ratePerSecond, part) => {
      const limit: Limit = { ...BURST, burst, ratePerSecond };
      const headers = policedHeaders(decision([{ limit, remaining: burst * part, nextUnitMs: 1000 / ratePerSecond }]));
      expect(headers['ratelimit-policy']).toMatch(/^"burst";q=\d{1,15};w=[1-9]\d{0,14}$/);
      expect(headers.ratelimit).toMatch(/^"burst";r=\d{1,15};t=[1-9]\d{0,14}$/);
    }),
  );
});
