import fc from 'fast-check';
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { Limit } from '../../src/model/limit.js';
import { LocalPolicer, type LocalPolicerOptions } from '../../src/policing/local-policer.js';
import type { AppliedLimit } from '../../src/policing/policer.js';

const SECOND = 1_000_000;

function bucket(ratePerSecond: number, burst: number): Limit {
  return { algorithm: 'token-bucket', name: 'a', per: 'key', ratePerSecond, burst };
}

/** A policer and the clock in front of it. */
function opened(options: Partial<LocalPolicerOptions> = {}) {
  const clock = { nowUs: 5 * SECOND };
  const policer = new LocalPolicer({ maxKeys: 1000, clock: () => clock.nowUs, ...options });
  const call = (limit: Limit, subject = 's', cost = 1, peek = false) =>
    policer.check({ limits: [{ limit, subject }], cost, peek });
  const passing = (limit: Limit, n: number, subject = 's') =>
    Array.from({ length: n }, () => call(limit, subject)).filter(({ verdict }) => verdict === 'conforming').length;
  return { policer, clock, call, passing };
}

describe('a share of each limit', () => {
  test.each([
    { share: 0.25, burst: 100, rate: 2, atOnce: 25, inTenSeconds: 5 },
    { share: 0.5, burst: 5, rate: 1, atOnce: 2, inTenSeconds: 2 },
    { share: 0.1, burst: 5, rate: 1, atOnce: 1, inTenSeconds: 1 },
    { share: 1, burst: 5, rate: 1, atOnce: 5, inTenSeconds: 5 },
  ])('of $share of $burst at $rate a second: $atOnce at once, $inTenSeconds ten seconds later', (row) => {
    const { clock, passing } = opened({ share: row.share });
    expect(passing(bucket(row.rate, row.burst), 200)).toBe(row.atOnce);
    clock.nowUs += 10 * SECOND;
    expect(passing(bucket(row.rate, row.burst), 200)).toBe(row.inTenSeconds);
  });

  test('is also the most that can ever pass', () => {
    const { call } = opened({ share: 0.25 });
    expect(call(bucket(2, 100), 's', 26)).toEqual({ verdict: 'cost_exceeds_max', limitedBy: 0, max: 25 });
  });

  test.each([0, -1, 1.01, Number.NaN])('cannot be %d', (share) => {
    expect(() => opened({ share })).toThrow(RangeError);
  });

  test('lets four processes together pass no more than the whole', () => {
    const members = Array.from({ length: 4 }, () => opened({ share: 0.25 }));
    expect(members.reduce((all, { passing }) => all + passing(bucket(2, 100), 100), 0)).toBe(100);
  });
});

describe('memory', () => {
  test('is bounded: the key that nobody has asked for longest goes first', () => {
    const { policer, call, passing } = opened({ maxKeys: 3 });
    const limit = bucket(1, 2);
    for (const key of ['a', 'b', 'c']) expect(passing(limit, 3, key)).toBe(2);
    call(limit, 'a');
    expect(passing(limit, 3, 'd')).toBe(2);
    expect(policer.size).toBe(3);
    // b was forgotten, and only b; asking for it again makes c the next one to go.
    expect(passing(limit, 1, 'a')).toBe(0);
    expect(passing(limit, 1, 'd')).toBe(0);
    expect(passing(limit, 1, 'c')).toBe(0);
    expect(passing(limit, 1, 'b')).toBe(1);
  });

  test('never holds more keys than it may, and remembers the last ones, whatever comes', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 8 }),
        fc.array(fc.integer({ min: 0, max: 20 }), { maxLength: 100 }),
        (maxKeys, keys) => {
          const { policer, call } = opened({ maxKeys });
          for (const key of keys) call(bucket(1e-6, 1), String(key));
          const last = [...new Set(keys.toReversed())].slice(0, maxKeys);
          expect(policer.size).toBe(last.length);
          for (const key of last) expect(call(bucket(1e-6, 1), String(key)).verdict).toBe('limited');
        },
      ),
    );
  });

  test('holds nothing for a peek, nor for a call that can never pass', () => {
    const { policer, call } = opened();
    call(bucket(1, 2), 's', 1, true);
    call(bucket(1, 2), 's', 3);
    expect(policer.size).toBe(0);
  });

  test('does not grow with keys that come once: buckets that are whole again make room for new ones', () => {
    const { policer, clock, call } = opened({ maxKeys: 1e6 });
    for (let i = 0; i < 50_000; i += 1) {
      call(bucket(1, 2), `once ${i}`);
      clock.nowUs += 10_000;
    }
    // A key matters for 2 s, in which 200 others come.
    expect(policer.size).toBeLessThan(1000);
  });
});

describe('an applied limit that keeps what was found', () => {
  /** One as policies have it, and how many of so many calls of it pass. */
  function kept(limit: Limit, subject = 's') {
    const applied: AppliedLimit = { limit, subject, found: undefined };
    const passing = (policer: LocalPolicer, n: number, by: AppliedLimit = applied) =>
      Array.from({ length: n }, () => policer.check({ limits: [by], cost: 1, peek: false })).filter(
        ({ verdict }) => verdict === 'conforming',
      ).length;
    return { applied, passing };
  }

  test('is decided by the same bucket as the subject without it', () => {
    const { policer, call } = opened();
    const { applied, passing } = kept(bucket(1, 5));
    expect([passing(policer, 1), passing(policer, 1)]).toEqual([1, 1]);
    expect(applied.found).toBeDefined();
    expect([call(applied.limit).verdict, passing(policer, 9)]).toEqual(['conforming', 2]);
    expect(policer.size).toBe(1);
  });

  test('counts at every policer for itself', () => {
    const [one, other] = [opened().policer, opened().policer];
    const { passing } = kept(bucket(1, 3));
    expect([passing(one, 2), passing(other, 9), passing(one, 9), passing(other, 1)]).toEqual([2, 3, 1, 0]);
  });

  test('does not take along what it found to another subject', () => {
    const { policer } = opened();
    const { applied, passing } = kept(bucket(1, 3));
    expect(passing(policer, 9)).toBe(3);
    expect(passing(policer, 9, { ...applied, subject: 'other' })).toBe(3);
  });

  test('begins anew once its bucket was forgotten, as everybody else', () => {
    const { policer, call, passing: calls } = opened({ maxKeys: 2 });
    const { applied, passing } = kept(bucket(1, 3));
    expect(passing(policer, 9)).toBe(3);
    for (const other of ['a', 'b']) call(applied.limit, other);
    expect(passing(policer, 2)).toBe(2);
    expect([calls(applied.limit, 9), policer.size]).toEqual([1, 2]);
    policer.close();
    expect([policer.size, passing(policer, 9)]).toEqual([0, 3]);
    policer.close();
  });
});

describe('memory of a policer nobody asks any more', () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  test('goes away by itself', () => {
    vi.useFakeTimers();
    const { policer, clock, call } = opened();
    for (let i = 0; i < 500; i += 1) call(bucket(1, 2), `key ${i}`);
    vi.advanceTimersByTime(1000);
    expect(policer.size).toBe(500);
    clock.nowUs += 3 * SECOND;
    vi.advanceTimersByTime(1000);
    expect(policer.size).toBe(0);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('keeps no process alive', () => {
    const timers = () => process.getActiveResourcesInfo().filter((resource) => resource === 'Timeout').length;
    const before = timers();
    const { call, policer } = opened();
    call(bucket(1, 2));
    expect(timers()).toBe(before);
    policer.close();
  });

  test('is given up with the policer', () => {
    vi.useFakeTimers();
    const { call, policer } = opened();
    call(bucket(1, 2));
    policer.close();
    expect([policer.size, vi.getTimerCount()]).toEqual([0, 0]);
  });
});

describe('a local policer', () => {
  test('decides at once', () => {
    const { call } = opened();
    expect(call(bucket(1, 2))).not.toBeInstanceOf(Promise);
  });

  test('takes no harm from a clock that goes back: nobody gains, and nobody waits for it to catch up', () => {
    const { clock, call, passing } = opened();
    expect(passing(bucket(1, 5), 9)).toBe(5);
    clock.nowUs -= 3600 * SECOND;
    expect(call(bucket(1, 5))).toMatchObject({ verdict: 'limited', retryAfterMs: 1000 });
    clock.nowUs += 3601 * SECOND;
    expect(passing(bucket(1, 5), 9)).toBe(1);
  });

  test('by its own clock lets pass what the limit says, whatever the time of day is set to', () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const policer = new LocalPolicer({ maxKeys: 10 });
    const limits = [{ limit: bucket(1e-3, 3), subject: 's' }];
    const passes = () => policer.check({ limits, cost: 1, peek: false }).verdict === 'conforming';
    const before = [passes(), passes(), passes(), passes()];
    vi.setSystemTime(Date.now() + 3_600_000);
    const later = passes();
    vi.setSystemTime(Date.now() - 7_200_000);
    expect([...before, later, passes()]).toEqual([true, true, true, false, false, false]);
    policer.close();
    vi.useRealTimers();
  });

  test('takes a window for the bucket that comes nearest', () => {
    const { clock, passing } = opened();
    const limit: Limit = { algorithm: 'sliding-window-log', name: 'a', per: 'key', limit: 60, windowMs: 60_000 };
    expect(passing(limit, 100)).toBe(60);
    clock.nowUs += 10 * SECOND;
    expect(passing(limit, 100)).toBe(10);
  });

  test('keeps the level when the limit of a subject changes', () => {
    const { call, passing } = opened();
    expect(passing(bucket(1, 10), 4)).toBe(4);
    const peek = call(bucket(50, 20), 's', 1, true);
    expect(peek).toMatchObject({ readings: [{ remaining: 16, nextUnitMs: 20 }] });
  });

  test.each([0.5, 1e-4, 1e-6, 3, 7 / 60, 1e6])('has a rate of %d a second, to a thousandth', (rate) => {
    const { clock, call } = opened();
    const beginUs = clock.nowUs;
    let passed = 0;
    while (passed < 100) {
      const verdict = call(bucket(rate, 1));
      if (verdict.verdict === 'conforming') passed += 1;
      // A thousandth of a unit's time and more: what it says in whole milliseconds would be too coarse for a million a second.
      else clock.nowUs += 1e6 / rate / 2000;
    }
    const seconds = (clock.nowUs - beginUs) / SECOND;
    expect(Math.abs((passed - 1) / seconds / rate - 1)).toBeLessThan(1e-3);
  });
});
