import { afterEach, describe, expect, test } from 'vitest';
import type { PolicyConfig } from '../../src/config/policy-config.js';
import { openPolicing } from '../../src/policing/open-policing.js';
import type { Caller, Policing } from '../../src/policing/policing.js';
import { bucket, named, policy } from './open-policing-policy.js';

const opened: Policing[] = [];
afterEach(async () => {
  for (const policing of opened.splice(0)) await policing.close();
});

/** Policing in this process alone. */
function open(...policies: readonly PolicyConfig[]): Policing {
  const policing = openPolicing({ policies: named(...policies), random: () => 0.5 });
  opened.push(policing);
  return policing;
}

const acme: Caller = { tenant: 'acme' };
/** How many of so many calls pass. */
async function passing(policing: Policing, caller: Caller, calls: number, name = 'api'): Promise<number> {
  let passed = 0;
  for (let i = 0; i < calls; i += 1) {
    if ((await policing.decide({ policy: name, caller, cost: 1 })).allowed) passed += 1;
  }
  return passed;
}

describe('policies in the process', () => {
  test('need no Redis', async () => {
    const policing = open(policy('api', [bucket(3)]));
    expect([policing.has('api'), policing.has('pay')]).toEqual([true, false]);
    expect(await passing(policing, acme, 5)).toBe(3);
  });

  test('hold each caller to its own, and all of them to what is over the policy', async () => {
    const policing = open(policy('api', [bucket(3), bucket(5, { name: 'all', per: 'policy' })]));
    expect(await passing(policing, acme, 4)).toBe(3);
    expect(await passing(policing, { address: '203.0.113.7' }, 4)).toBe(2);
    const refused = await policing.decide({ policy: 'api', caller: {}, cost: 1 });
    expect([
      refused.outcome,
      refused.nearest?.limit.name,
      refused.limits.map(({ remaining }) => Math.floor(remaining)),
    ]).toEqual(['limited', 'all', [3, 0]]);
  });

  test('hold strangers of whom nothing is known to one limit together', async () => {
    const policing = open(policy('api', [bucket(3)]));
    expect([await passing(policing, {}, 2), await passing(policing, {}, 2)]).toEqual([2, 1]);
  });

  test('do not mix with each other', async () => {
    const policing = open(policy('api', [bucket(1)]), policy('pay', [bucket(1)]));
    expect([await passing(policing, acme, 2, 'api'), await passing(policing, acme, 2, 'pay')]).toEqual([1, 1]);
  });

  test('count their decisions, each its own', async () => {
    const policing = open(policy('api', [bucket(1)]), policy('pay', [bucket(5)]), policy('idle', [bucket(1)]));
    await passing(policing, acme, 3, 'api');
    await passing(policing, acme, 2, 'pay');
    const of = { policy: 'api', outcome: 'conforming', decidedBy: 'policer', allowed: true, count: 1 };
    expect(policing.counts()).toEqual([
      of,
      { ...of, outcome: 'limited', allowed: false, count: 2 },
      { ...of, policy: 'pay', count: 2 },
    ]);
  });

  test('let everything pass without limits', async () => {
    const policing = open(policy('api', []));
    const decision = await policing.decide({ policy: 'api', caller: acme, cost: 1e9 });
    expect(decision).toMatchObject({ allowed: true, outcome: 'conforming', limits: [] });
    expect(decision).not.toHaveProperty('nearest');
  });

  test('have this process’s share of their limits', async () => {
    expect(await passing(open(policy('api', [bucket(20)], { share: 0.25 })), acme, 20)).toBe(5);
  });

  test('tell of this process’s share, and not of the whole', async () => {
    const policing = open(policy('api', [bucket(20)], { share: 0.25 }));
    const { nearest, limits } = await policing.decide({ policy: 'api', caller: acme, cost: 1 });
    expect(nearest).toMatchObject({ limit: { burst: 5, ratePerSecond: 5 / 3600 }, remaining: 4 });
    expect(limits).toHaveLength(1);
    const dear = await policing.decide({ policy: 'api', caller: acme, cost: 6 });
    expect(dear).toMatchObject({ outcome: 'cost_exceeds_max', max: 5 });
  });

  test('decide and count, but let pass, where they are not enforced', async () => {
    const policing = open(policy('api', [bucket(2)], { enforce: false }));
    expect(await passing(policing, acme, 5)).toBe(5);
    expect(policing.counts()).toEqual([
      { policy: 'api', outcome: 'conforming', decidedBy: 'policer', allowed: true, count: 2 },
      { policy: 'api', outcome: 'limited', decidedBy: 'policer', allowed: true, count: 3 },
    ]);
  });

  test('refuse for good what can never pass, and say what can', async () => {
    const decision = await open(policy('api', [bucket(10)])).decide({ policy: 'api', caller: acme, cost: 11 });
    expect(decision).toMatchObject({ allowed: false, outcome: 'cost_exceeds_max', max: 10, retryAfterMs: null });
  });
});

describe('a caller is held to the limits of its tier', () => {
  const tiers = policy('api', [bucket(2)], {
    byTier: new Map([
      ['anonymous', [bucket(1)]],
      ['pro', [bucket(4)]],
      ['staff', []],
    ]),
  });

  test.each<[string, Caller, number]>([
    ['the one named for its tenant', { tenant: 'a', tier: 'pro' }, 4],
    ['one with other limits of none', { tenant: 'a', tier: 'staff' }, 6],
    ['one that the policy does not speak of', { tenant: 'a', tier: 'free' }, 2],
    ['none, of a tenant', { tenant: 'a' }, 2],
    ['one that a gateway named for a stranger', { address: '203.0.113.7', tier: 'pro' }, 4],
    ['none, of a stranger', { address: '203.0.113.7' }, 1],
    ['none, of a stranger with a key', { key: 'user' }, 1],
  ])('%s', async (_, caller, passed) => {
    expect(await passing(open(tiers), caller, 6)).toBe(passed);
  });

  test('which for a stranger are those of everybody else where nothing is said of strangers', async () => {
    expect(await passing(open(policy('api', [bucket(2)])), { address: '203.0.113.7' }, 6)).toBe(2);
  });

  test('and keeps its level when it changes tiers', async () => {
    const policing = open(tiers);
    expect(await passing(policing, { tenant: 'a', tier: 'free' }, 6)).toBe(2);
    // Both buckets fill in an hour: what was all of the small one is all of the large one.
    expect(await passing(policing, { tenant: 'a', tier: 'pro' }, 6)).toBeLessThan(4);
  });
});

describe('what was charged', () => {
  const left = async (policing: Policing): Promise<number | undefined> =>
    (await policing.decide({ policy: 'api', caller: acme, cost: 1, peek: true })).nearest?.remaining;

  test('can be given back, once', async () => {
    const policing = open(policy('api', [bucket(10)]));
    const decision = await policing.decide({ policy: 'api', caller: acme, cost: 4 });
    await policing.decide({ policy: 'api', caller: acme, cost: 3 });
    await decision.giveBack();
    await decision.giveBack();
    expect(await left(policing)).toBeCloseTo(7, 1);
  });

  test('is nothing for a peek, and nothing comes back of one', async () => {
    const policing = open(policy('api', [bucket(10)]));
    await policing.decide({ policy: 'api', caller: acme, cost: 5 });
    const peek = await policing.decide({ policy: 'api', caller: acme, cost: 5, peek: true });
    await peek.giveBack();
    expect(peek.outcome).toBe('conforming');
    expect(await left(policing)).toBeCloseTo(5, 1);
  });

  test('is nothing for a call that was refused', async () => {
    const policing = open(policy('api', [bucket(10)]));
    const refused = await policing.decide({ policy: 'api', caller: acme, cost: 11 });
    await refused.giveBack();
    expect(await left(policing)).toBe(10);
  });
});

describe('a mistake of the caller’s is a TypeError, and charges nothing', () => {
  test.each([0, -1, Number.NaN, 1e-7, 1e10, Number.POSITIVE_INFINITY])('a cost of %d', async (cost) => {
    const policing = open(policy('api', [bucket(10)]));
    await expect(policing.decide({ policy: 'api', caller: acme, cost })).rejects.toThrow(TypeError);
    expect(policing.counts()).toEqual([]);
    expect((await policing.decide({ policy: 'api', caller: acme, cost: 1 })).nearest?.remaining).toBe(9);
  });

  test('a policy that does not exist, also one named after what objects have', async () => {
    const policing = open(policy('api', [bucket(10)]));
    for (const name of ['pay', '__proto__', 'constructor', '']) {
      await expect(policing.decide({ policy: name, caller: acme, cost: 1 })).rejects.toThrow(TypeError);
    }
  });

  test('a policy that needs a Redis which is not given is an Error', () => {
    for (const place of ['redis', 'leased'] as const) {
      expect(() => open(policy('api', [bucket(1)], { place }))).toThrow('policy api needs Redis');
    }
  });
});

test('costs are charged as they are, fractions too', async () => {
  const policing = open(policy('api', [bucket(1)]));
  for (const cost of [0.5, 0.25, 0.125]) {
    expect((await policing.decide({ policy: 'api', caller: acme, cost })).allowed).toBe(true);
  }
  expect((await policing.decide({ policy: 'api', caller: acme, cost: 0.25 })).allowed).toBe(false);
});
