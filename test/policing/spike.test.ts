import { describe, expect, test } from 'vitest';
import { quotaOf } from '../../src/model/limit.js';
import { redisForTests } from '../lua/redis-for-tests.js';
import { leasedKind } from './kinds/leased.js';
import { localKind } from './kinds/local.js';
import { redisKinds } from './kinds/redis.js';
import { ask, freshly, limitOf, type PolicerKind } from './kinds.js';

const server = redisForTests();

const MINUTE_US = 60e6;

/** What most gateways have: a counter that starts over with every minute of the clock. */
const fixedWindow: PolicerKind = {
  name: 'fixed window',
  algorithm: 'sliding-window-log',
  async open() {
    let nowUs = 0;
    const counts = new Map<number, number>();
    return {
      policer: {
        check({ limits }) {
          const minute = Math.floor(nowUs / MINUTE_US);
          const count = counts.get(minute) ?? 0;
          const quota = Math.min(...limits.map(({ limit }) => quotaOf(limit)));
          if (count >= quota) return { verdict: 'limited', readings: [], limitedBy: 0, retryAfterMs: 1 };
          counts.set(minute, count + 1);
          return { verdict: 'conforming', readings: [], giveBack: () => {} };
        },
        close: () => {},
      },
      nowUs: () => nowUs,
      advance(us) {
        nowUs += us;
      },
      close: async () => {},
    };
  },
};

const kinds = [fixedWindow, ...redisKinds(server), localKind, leasedKind(server)];

/** How many of `calls` pass shortly before a minute of the clock ends, and how many of as many `pauseS` later. */
async function spike(
  kind: PolicerKind,
  quota: number,
  calls: number,
  pauseS: number,
): Promise<readonly [number, number]> {
  const open = await kind.open();
  const applied = freshly(limitOf(kind.algorithm, { quota, windowMs: 60_000 }));
  const passing = async () => {
    let passed = 0;
    for (let i = 0; i < calls; i += 1) if ((await ask(open, applied)).verdict === 'conforming') passed += 1;
    return passed;
  };
  open.advance(2 * MINUTE_US - (open.nowUs() % MINUTE_US) - (pauseS / 2) * 1e6);
  const before = await passing();
  open.advance(pauseS * 1e6);
  const after = await passing();
  await open.close();
  return [before, after];
}

type Expected = Readonly<Record<string, readonly [number, number]>>;

/**
 * A limit of 100 a minute, worked out by hand: in the two seconds between, a bucket leaks 2 · 100 / 60 = 3.3 units; a log
 * holds all hundred; a counter is one second into its window and takes 59 sixtieths of the hundred as still in it, so 1.7
 * units are free.
 */
const HUNDRED: Expected = {
  'fixed window': [100, 100],
  'token-bucket': [100, 3],
  'sliding-window-log': [100, 0],
  'sliding-window-counter': [100, 1],
  local: [100, 3],
  leased: [100, 3],
};

/**
 * A limit of 120 a minute: a bucket has 1 left and leaks 8 in four seconds; a log has 1 left; a counter is two seconds into
 * its window and takes 58 sixtieths of 119 as still in it, which is 115.03.
 */
const TWO_HUNDRED_AND_THIRTY_EIGHT: Expected = {
  'fixed window': [119, 119],
  'token-bucket': [119, 9],
  'sliding-window-log': [119, 1],
  'sliding-window-counter': [119, 4],
  local: [119, 9],
  leased: [119, 9],
};

describe('around the edge of a minute', () => {
  test.each(kinds)('100 calls at 0:59 and 100 at 1:01, 100 a minute: $name', async (kind) => {
    expect(await spike(kind, 100, 100, 2)).toEqual(HUNDRED[kind.name]);
  });

  test.each(kinds)('119 calls at 0:58 and 119 at 1:02, 120 a minute: $name', async (kind) => {
    expect(await spike(kind, 120, 119, 4)).toEqual(TWO_HUNDRED_AND_THIRTY_EIGHT[kind.name]);
  });
});
