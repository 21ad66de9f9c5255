import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type DecisionTerms, decisionOf, spread } from '../../src/policing/decision.js';
import { DecisionCounts } from '../../src/policing/decision-counts.js';
import type { Judgement } from '../../src/policing/outage-policer.js';
import type { PolicerVerdict, Reading } from '../../src/policing/policer.js';
import { bucket, policy } from './open-policing-policy.js';

const [perSecond, perDay] = [bucket(10, { name: 'second' }), bucket(1000, { name: 'day' })];
const limits = [perSecond, perDay];
const giveBack = (): void => undefined;

/** Whoever gives back, and what it was told to. */
function giver() {
  const given: PolicerVerdict[] = [];
  return { given, giveBack: async (verdict: PolicerVerdict) => void given.push(verdict) };
}

function decide(
  judgement: Judgement,
  options: Partial<DecisionTerms['policy']> = {},
  { random = (): number => 0.5, giver: by = giver() } = {},
) {
  return decisionOf(judgement, { policy: policy('api', limits, options), giver: by, random });
}

const byPolicer = (verdict: PolicerVerdict): Judgement => ({ decidedBy: 'policer', verdict });
const second: Reading = { limit: perSecond, remaining: 4, nextUnitMs: 100 };
const day: Reading = { limit: perDay, remaining: 300, nextUnitMs: 0 };
const readings = [second, day];
const conforming = byPolicer({ verdict: 'conforming', readings, giveBack });
const limited = byPolicer({ verdict: 'limited', readings, limitedBy: 0, retryAfterMs: 250 });
const tooDear = byPolicer({ verdict: 'cost_exceeds_max', limitedBy: 0, max: 10 });

describe('a decision', () => {
  test('lets a conforming call pass and says what is left of every limit', () => {
    expect(decide(conforming)).toEqual({
      policy: 'api',
      allowed: true,
      outcome: 'conforming',
      decidedBy: 'policer',
      enforced: true,
      retryAfterMs: 0,
      limits: [second, day],
      nearest: day,
    });
  });

  test('has a call that passed given back, once; of a refused one there is nothing to give back', async () => {
    const by = giver();
    const [passed, refused] = [conforming, limited].map((judgement) => decide(judgement, {}, { giver: by }));
    await refused?.giveBack();
    expect(by.given).toEqual([]);
    await Promise.all([passed?.giveBack(), passed?.giveBack()]);
    await passed?.giveBack();
    expect(by.given).toEqual([{ verdict: 'conforming', readings, giveBack }]);
  });

  test('refuses a limited call, and says which limit refused and when to return', () => {
    expect(decide(limited)).toEqual({
      policy: 'api',
      allowed: false,
      outcome: 'limited',
      decidedBy: 'policer',
      enforced: true,
      retryAfterMs: 250,
      limits: [second, day],
      nearest: second,
    });
  });

  test('refuses for good what can never pass', () => {
    expect(decide(tooDear)).toEqual({
      policy: 'api',
      allowed: false,
      outcome: 'cost_exceeds_max',
      decidedBy: 'policer',
      enforced: true,
      retryAfterMs: null,
      limits: [],
      max: 10,
    });
  });

  test('says who decided', () => {
    const verdict: PolicerVerdict = { verdict: 'limited', readings, limitedBy: 0, retryAfterMs: 250 };
    expect(decide({ decidedBy: 'local', verdict }).decidedBy).toBe('local');
  });

  test('claims no numbers that nobody knows', () => {
    const [open, closed] = [decide({ decidedBy: 'open' }), decide({ decidedBy: 'closed' })];
    expect([open.allowed, open.retryAfterMs, open.outcome]).toEqual([true, 0, 'unknown']);
    expect([closed.allowed, closed.retryAfterMs, closed.outcome]).toEqual([false, 1500, 'unknown']);
    for (const decision of [open, closed]) {
      expect(decision.limits).toEqual([]);
      expect(Object.keys(decision)).not.toContain('nearest');
      expect(Object.keys(decision)).not.toContain('max');
    }
  });

  test('has the limit of whose quota least is left as the nearest, the first of equals', () => {
    const nearest = (...left: number[]) => {
      const each = left.map((remaining, i) => ({ limit: limits[i] ?? perDay, remaining, nextUnitMs: 0 }));
      return decide(byPolicer({ verdict: 'conforming', readings: each, giveBack })).nearest?.limit.name;
    };
    expect([nearest(9, 100), nearest(1, 101), nearest(5, 500), nearest(10, 0)]).toEqual([
      'day',
      'second',
      'second',
      'day',
    ]);
  });

  test.each<[string, Judgement]>([
    ['conforming', conforming],
    ['limited', limited],
    ['cost_exceeds_max', tooDear],
    ['unknown', { decidedBy: 'closed' }],
    ['unknown', { decidedBy: 'open' }],
  ])('that is not enforced lets pass what is %s, and keeps the outcome', (outcome, judgement) => {
    const decision = decide(judgement, { enforce: false });
    expect(decision).toMatchObject({ allowed: true, enforced: false, outcome, retryAfterMs: 0 });
    expect({ ...decide(judgement), allowed: true, enforced: false, retryAfterMs: 0 }).toEqual(decision);
  });
});

describe('the spread of Retry-After', () => {
  const unit = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
  const waits = fc.integer({ min: 1, max: 1e12 });

  test('is upwards only, at most by its fraction, in whole milliseconds', () => {
    fc.assert(
      fc.property(waits, fc.double({ min: 0, max: 1, noNaN: true }), unit, (ms, fraction, random) => {
        const spreadMs = spread(ms, fraction, () => random);
        expect(Number.isInteger(spreadMs)).toBe(true);
        expect(spreadMs).toBeGreaterThanOrEqual(ms);
        expect(spreadMs).toBeLessThanOrEqual(Math.ceil(ms * (1 + fraction)));
      }),
    );
  });

  test('is none without a fraction, and even with one', () => {
    expect(spread(1000, 0, () => 0.9)).toBe(1000);
    expect([0, 0.25, 0.5, 0.999].map((random) => spread(1000, 0.4, () => random))).toEqual([1000, 1100, 1200, 1400]);
  });

  test('is the policy’s', () => {
    expect(decide(limited, { retryJitter: 1 }, { random: () => 0.5 }).retryAfterMs).toBe(375);
    expect(decide(limited, { retryJitter: 0.5 }, { random: () => 0 }).retryAfterMs).toBe(250);
  });
});

test('decisions are counted by policy, outcome, who decided and whether the call passed', () => {
  const counts = new DecisionCounts('api');
  const of = { outcome: 'limited', decidedBy: 'policer', allowed: false } as const;
  const others = [
    { ...of, outcome: 'conforming' },
    { ...of, decidedBy: 'local' },
    { ...of, allowed: true },
  ] as const;
  for (const each of [of, ...others, of, of]) counts.add(each);
  expect(counts.snapshot()).toHaveLength(4);
  expect(counts.snapshot()).toEqual(
    expect.arrayContaining([
      { policy: 'api', ...of, count: 3 },
      ...others.map((other) => ({ policy: 'api', ...other, count: 1 })),
    ]),
  );
});
