import { describe, expect, test } from 'vitest';
import type { Limit } from '../../src/model/limit.js';
import type { AppliedLimit } from '../../src/policing/policer.js';
import type { Caller } from '../../src/policing/policing.js';
import { subjectOf } from '../../src/policing/subject.js';
import { redisForTests } from '../lua/redis-for-tests.js';
import { leasedKind } from './kinds/leased.js';
import { localKind } from './kinds/local.js';
import { redisKinds } from './kinds/redis.js';
import { ask, limitOf, type OpenPolicer, type PolicerKind } from './kinds.js';

const server = redisForTests();
const kinds = [...redisKinds(server), localKind, leasedKind(server)];

const CALLERS = 200;
const MINUTE_US = 60e6;
const ADDRESS = '198.51.100.7';

let policies = 0;

/** The limit as it applies to each of 200 users who share one address. */
function appliedTo(limit: Limit, callerOf: (user: number) => Caller): readonly AppliedLimit[] {
  policies += 1;
  return Array.from({ length: CALLERS }, (_, user) => ({
    limit,
    subject: subjectOf(`many-${policies}`, 0, limit, callerOf(user)),
  }));
}

/** How many calls of each user pass, when all call at once `rounds` times, `everyUs` apart. */
async function passing(
  open: OpenPolicer,
  applied: readonly AppliedLimit[],
  { rounds, everyUs }: { readonly rounds: number; readonly everyUs: number },
): Promise<number[]> {
  const passed = applied.map(() => 0);
  for (let round = 0; round < rounds; round += 1) {
    if (round > 0) open.advance(everyUs);
    const verdicts = await Promise.all(applied.map((limit) => ask(open, limit)));
    verdicts.forEach(({ verdict }, user) => {
      if (verdict === 'conforming') passed[user] = (passed[user] ?? 0) + 1;
    });
  }
  return passed;
}

const total = (counts: readonly number[]) => counts.reduce((all, count) => all + count, 0);

/** A window has 60; a bucket has those, and leaks one in each of the 29.75 s between the first call and the last. */
const SIXTY: Readonly<Record<PolicerKind['algorithm'], number>> = {
  'token-bucket': 89,
  'sliding-window-log': 60,
  'sliding-window-counter': 60,
};

describe.each(kinds)('60 a minute, 200 callers, four calls a second each for 30 s: $name', (kind) => {
  const limit = limitOf(kind.algorithm, { quota: 60, windowMs: 60_000 });
  const load = { rounds: 120, everyUs: 250_000 };

  async function atTheBeginningOfAMinute(): Promise<OpenPolicer> {
    const open = await kind.open();
    open.advance(MINUTE_US - (open.nowUs() % MINUTE_US));
    return open;
  }

  test('by address, all of them together have what one is meant to have', async () => {
    const open = await atTheBeginningOfAMinute();
    const applied = appliedTo(limit, () => ({ address: ADDRESS }));
    expect(total(await passing(open, applied, load))).toBe(SIXTY[kind.algorithm]);
    await open.close();
  });

  test('by user, each of them has it', async () => {
    const open = await atTheBeginningOfAMinute();
    const applied = appliedTo(limit, (user) => ({ address: ADDRESS, key: `user-${user}` }));
    expect(await passing(open, applied, load)).toEqual(applied.map(() => SIXTY[kind.algorithm]));
    await open.close();
  });
});

describe.each(kinds.filter(({ algorithm }) => algorithm === 'token-bucket'))(
  '100 at once and 2 a second, 1,000 calls of 200 callers within 21 s: $name',
  (kind) => {
    test('100 pass and the 42 that leak meanwhile', async () => {
      const open = await kind.open();
      const limit: Limit = { algorithm: 'token-bucket', name: 'a', per: 'key', ratePerSecond: 2, burst: 100 };
      const applied = appliedTo(limit, () => ({ tenant: 'acme' }));
      expect(total(await passing(open, applied, { rounds: 5, everyUs: 5.25e6 }))).toBe(142);
      await open.close();
    });
  },
);
