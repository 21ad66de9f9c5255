import { describe, expect, test } from 'vitest';
import { redisForTests } from '../lua/redis-for-tests.js';
import { seeded } from './fleet.js';
import { excessOfWindows, type Passed } from './judges.js';
import { redisKinds } from './kinds/redis.js';
import { ask, freshly, limitOf, type PolicerKind } from './kinds.js';

const server = redisForTests();
const QUOTA = 100;
const MINUTE_US = 60e6;

interface Account {
  /** Calls that an exact log lets pass, and calls that the counter does. */
  readonly log: number;
  readonly counter: number;
  /** Most calls that the counter lets pass within any 60 s. */
  readonly most: number;
}

function counterKind(): PolicerKind {
  const kind = redisKinds(server).find(({ algorithm }) => algorithm === 'sliding-window-counter');
  if (!kind) throw new Error('there is no counter');
  return kind;
}

/** The same calls through the counter and through an exact log, which is written here. */
async function account(atsUs: readonly number[]): Promise<Account> {
  const open = await counterKind().open();
  const applied = freshly(limitOf('sliding-window-counter', { quota: QUOTA, windowMs: 60_000 }));
  open.advance(MINUTE_US - (open.nowUs() % MINUTE_US));
  const beginUs = open.nowUs();
  const passed: Passed[] = [];
  const logged: number[] = [];
  for (const atUs of atsUs) {
    open.advance(beginUs + atUs - open.nowUs());
    if ((logged.at(-QUOTA) ?? Number.NEGATIVE_INFINITY) <= atUs - MINUTE_US) logged.push(atUs);
    if ((await ask(open, applied)).verdict === 'conforming') passed.push({ atUs, cost: 1 });
  }
  await open.close();
  return { log: logged.length, counter: passed.length, most: QUOTA + excessOfWindows(QUOTA, MINUTE_US, passed) };
}

/** Ten minutes of calls at random instants; `perMinute` may change with the second. */
function poisson(seed: number, perMinute: (second: number) => number): number[] {
  const random = seeded(seed);
  const ats: number[] = [];
  const most = Math.max(...Array.from({ length: 600 }, (_, second) => perMinute(second)));
  for (let at = 0; at < 600; at += (-Math.log(1 - random()) * 60) / most) {
    if (random() * most < perMinute(Math.floor(at))) ats.push(Math.round(at * 1e6));
  }
  return ats;
}

describe('the error of the sliding-window counter, 100 a minute, in ten minutes of calls at random instants', () => {
  test.each([
    { load: 'steady, 0.8 of the limit', perMinute: () => 80, log: 810, counter: 811, most: 101 },
    { load: 'steady, the limit', perMinute: () => 100, log: 942, counter: 933, most: 102 },
    { load: 'steady, twice the limit', perMinute: () => 200, log: 1000, counter: 984, most: 101 },
    { load: 'steady, five times the limit', perMinute: () => 500, log: 1000, counter: 991, most: 102 },
    // All come early in a window of the clock, and are taken as evenly spread: the next rush finds the counter half full.
    {
      load: 'ten seconds of each minute',
      perMinute: (s: number) => (s % 60 < 10 ? 900 : 20),
      log: 995,
      counter: 646,
      most: 100,
    },
    { load: '23 s on, 24 s off', perMinute: (s: number) => (s % 47 < 23 ? 300 : 0), log: 880, counter: 887, most: 138 },
  ])('$load: $counter pass, $log by an exact log; at most $most in any minute', async ({ perMinute, ...expected }) => {
    const { log, counter, most } = await account(poisson(5, perMinute));
    expect({ log, counter, most }).toMatchObject({ log: expected.log, counter: expected.counter, most: expected.most });
  });

  test('is less than one quota more in any window; the worst trace comes close to that', async () => {
    const end = Array.from({ length: QUOTA }, () => MINUTE_US - 1);
    const spread = Array.from({ length: 600 }, (_, i) => MINUTE_US + i * 0.1e6);
    const { most } = await account([...end, ...spread]);
    expect(most).toBe(199);
  });
});
