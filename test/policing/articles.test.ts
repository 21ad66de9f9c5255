import { describe, expect, test } from 'vitest';
import type { PolicyConfig } from '../../src/config/policy-config.js';
import type { RateLimit } from '../../src/model/limit.js';
import { HeldPolicy } from '../../src/policing/held-policy.js';
import { LocalPolicer } from '../../src/policing/local-policer.js';
import type { Caller } from '../../src/policing/policing.js';
import { redisForTests } from '../lua/redis-for-tests.js';
import { redisKinds } from './kinds/redis.js';
import { ask, freshly, type OpenPolicer } from './kinds.js';

const server = redisForTests();

function bucket(ratePerSecond: number, burst: number, per: RateLimit['per'] = 'key'): RateLimit {
  return { algorithm: 'token-bucket', name: per, per, ratePerSecond, burst };
}

function policy(
  name: string,
  limits: readonly RateLimit[],
  byTier: Readonly<Record<string, RateLimit>> = {},
): HeldPolicy {
  const tiers = new Map(Object.entries(byTier).map(([tier, limit]) => [tier, [limit]] as const));
  const config: PolicyConfig = {
    ...{ name, place: 'redis', limits, byTier: tiers, onOutage: 'open', enforce: true, retryJitter: 0 },
    ...{ deadlineMs: 30, maxKeys: 1000, share: 1, leaseMs: 1000 },
  };
  return new HeldPolicy(config);
}

async function openBucket(): Promise<OpenPolicer> {
  const [kind] = redisKinds(server);
  if (kind?.algorithm !== 'token-bucket') throw new Error('the first kind is the bucket');
  return kind.open();
}

/** How many of `n` calls of a caller pass. */
async function passing(open: OpenPolicer, held: HeldPolicy, caller: Caller, n: number): Promise<number> {
  const calls = Array.from({ length: n }, () => ask(open, held.limitsOf(caller).appliedTo(caller)));
  return (await Promise.all(calls)).filter(({ verdict }) => verdict === 'conforming').length;
}

describe('a key chosen first', () => {
  test('one limit for everybody lets one caller lock all others out', async () => {
    const [open, held] = [await openBucket(), policy('everybody', [bucket(50, 100, 'policy')])];
    expect(await passing(open, held, { tenant: 'greedy' }, 1000)).toBe(100);
    expect(await passing(open, held, { tenant: 'modest' }, 5)).toBe(0);
  });

  test('a limit for each confines the harm, and one over all beside it keeps what there is', async () => {
    const [open, held] = [await openBucket(), policy('each', [bucket(5, 10), bucket(50, 100, 'policy')])];
    expect(await passing(open, held, { tenant: 'greedy' }, 1000)).toBe(10);
    expect(await passing(open, held, { tenant: 'modest' }, 5)).toBe(5);
    // Nine more who are greedy: the last of them find that all of it is taken.
    const others = Array.from({ length: 10 }, (_, i) => ({ tenant: `other-${i}` }));
    const passed = await Promise.all(others.map((caller) => passing(open, held, caller, 100)));
    expect(passed.reduce((all, one) => all + one, 0)).toBe(85);
  });

  test.each([
    { who: 'a stranger', caller: { address: '198.51.100.7' }, perMinute: 50 },
    { who: 'a tenant', caller: { tenant: 'acme' }, perMinute: 200 },
    { who: 'one that pays', caller: { tenant: 'globex', tier: 'paid' }, perMinute: 2000 },
  ])('$who has $perMinute a minute', async ({ caller, perMinute }) => {
    const open = await openBucket();
    const held = policy(`class-${perMinute}`, [bucket(200 / 60, 200)], {
      anonymous: bucket(50 / 60, 50),
      paid: bucket(2000 / 60, 2000),
    });
    expect(await passing(open, held, caller, 2500)).toBe(perMinute);
    open.advance(30e6);
    expect(await passing(open, held, caller, 2500)).toBe(perMinute / 2);
  });
});

describe('buckets of their own in four processes, 100 at once', () => {
  const applied = freshly(bucket(1, 100));

  /** How many of 1,000 calls pass, when the balancer sends each to the process that `pick` says. */
  function passed(share: number, pick: (nth: number) => number): number {
    const processes = Array.from({ length: 4 }, () => new LocalPolicer({ maxKeys: 10, share, clock: () => 60e6 }));
    const calls = Array.from({ length: 1000 }, (_, nth) => processes[pick(nth) % 4]);
    const conforming = calls.filter(
      (process) => process?.check({ limits: [applied], cost: 1, peek: false }).verdict === 'conforming',
    );
    for (const process of processes) process.close();
    return conforming.length;
  }

  test.each([
    { what: 'whole ones, calls spread evenly: four times the limit', share: 1, pick: (nth: number) => nth, pass: 400 },
    { what: 'a quarter each, calls spread evenly: the limit', share: 0.25, pick: (nth: number) => nth, pass: 100 },
    { what: 'a quarter each, a client that stays with one: a quarter', share: 0.25, pick: () => 2, pass: 25 },
  ])('$what', ({ share, pick, pass }) => {
    expect(passed(share, pick)).toBe(pass);
  });
});
