import { describe, expect, test } from 'vitest';
import { bucket, counter, LimitDesk, log } from './limit-desk.js';
import { redisForTests } from './redis-for-tests.js';

const server = redisForTests();
const desk = (): LimitDesk => new LimitDesk(server.redis);

const SECOND = 1_000_000;
const MINUTE = 60 * SECOND;

describe('a token bucket', () => {
  test('of 100 and 2 a second: the first 100 pass at once, and 42 more within 21 s', async () => {
    const d = desk();
    const limit = bucket(2, 100);
    expect(await d.passing(limit, 200)).toBe(100);
    let more = 0;
    for (let i = 0; i < 210; i += 1) {
      d.nowUs += SECOND / 10;
      more += await d.passing(limit, 4);
    }
    expect(more).toBe(42);
  });

  test('says when a refused call passes: (cost − tokens) / rate', async () => {
    const d = desk();
    await d.passing(bucket(2, 100), 100);
    expect(await d.say(bucket(2, 100))).toEqual(['limited', 0, 500_000]);
    d.nowUs += 200_000;
    expect(await d.say(bucket(2, 100))).toEqual(['limited', 0.4, 300_000]);
    expect(await d.say(bucket(2, 100), { cost: 10 })).toEqual(['limited', 0.4, 4_800_000]);
  });

  test('of 10 and 5 a second, idle: 12 at once, 10 pass; a second later 5 more', async () => {
    const d = desk();
    expect(await d.passing(bucket(5, 10), 12)).toBe(10);
    d.nowUs += SECOND;
    expect(await d.passing(bucket(5, 10), 12)).toBe(5);
  });

  test('of 5 and 2 a second, empty: after 3 s it holds 5 and not 6; of 10 calls 5 pass', async () => {
    const d = desk();
    await d.passing(bucket(2, 5), 5);
    d.nowUs += 3 * SECOND;
    expect(await d.say(bucket(2, 5), { peek: true })).toEqual(['conforming', 5, 0]);
    expect(await d.passing(bucket(2, 5), 10)).toBe(5);
  });

  test('of 100 is emptied by ten uploads at 10', async () => {
    const d = desk();
    expect(await d.passing(bucket(2, 100), 12, { cost: 10 })).toBe(10);
    expect(await d.say(bucket(2, 100))).toEqual(['limited', 0, 500_000]);
  });

  test('forgets nothing that is left when its key expires', async () => {
    const d = desk();
    await d.passing(bucket(0.001, 2), 2);
    const expiresInMs = await d.redis.pttl(d.key('a'));
    expect(expiresInMs).toBeGreaterThan(2000 * 1000);
  });

  test('is given time anew when its key would expire before it is whole', async () => {
    const d = desk();
    await d.passing(bucket(0.001, 3), 2);
    await d.redis.pexpire(d.key('a'), 60_000);
    expect(await d.passing(bucket(0.001, 3), 2)).toBe(1);
    expect(await d.redis.pttl(d.key('a'))).toBeGreaterThan(3000 * 1000);
  });

  test.each([1e-6, 1e-4, 0.5, 3, 7 / 60, 12_345.678, 700_000, 1e6])(
    'of %d a second lets that many pass to a thousandth',
    async (rate) => {
      const d = desk();
      const limit = bucket(rate, 10);
      await d.passing(limit, 10);
      const begin = d.nowUs;
      let passed = 0;
      while (passed < 2000) {
        d.nowUs += (await d.ask({ limits: { a: limit }, peek: true })).waitsUs[0] ?? 0;
        passed += await d.passing(limit, 10);
      }
      const ratio = passed / ((d.nowUs - begin) / SECOND) / rate;
      expect(ratio).toBeGreaterThan(0.999);
      expect(ratio).toBeLessThanOrEqual(1 + 1 / 2000 + 1e-9);
    },
  );

  test.each([3, 7, 7 / 60, 1.1, 999.9])('of %d a second adds up tenths to whole units', async (rate) => {
    const d = desk();
    expect(await d.passing(bucket(rate, 4), 50, { cost: 0.1 })).toBe(40);
    expect(await d.passing(bucket(rate, 4), 1, { cost: 1e-3 })).toBe(0);
  });
});

describe('a sliding-window log', () => {
  test('of 120 a minute takes no more around the edge of a minute, where a fixed window lets 238 pass', async () => {
    const d = desk();
    const fixed = new Map<number, number>();
    let [byLog, byFixed] = [0, 0];
    d.nowUs += 59 * SECOND;
    for (const atUs of [d.nowUs, d.nowUs + 2 * SECOND]) {
      d.nowUs = atUs;
      byLog += await d.passing(log(120, 60_000), 119);
      const window = Math.floor(atUs / MINUTE);
      for (let i = 0; i < 119; i += 1) {
        const count = (fixed.get(window) ?? 0) + 1;
        fixed.set(window, count);
        if (count <= 120) byFixed += 1;
      }
    }
    expect({ byLog, byFixed }).toEqual({ byLog: 120, byFixed: 238 });
  });

  test('lets go of a call exactly when the window has passed over it', async () => {
    const d = desk();
    const limit = log(2, 60_000);
    expect(await d.say(limit)).toEqual(['conforming', 1, 0]);
    d.nowUs += 10 * SECOND;
    expect(await d.say(limit)).toEqual(['conforming', 0, 0]);
    d.nowUs += 49_999_999;
    expect(await d.say(limit)).toEqual(['limited', 0, 1]);
    d.nowUs += 1;
    expect(await d.say(limit)).toEqual(['conforming', 0, 0]);
    expect(await d.say(limit)).toEqual(['limited', 0, 10 * SECOND]);
  });

  test('says the true wait of a call that needs several to leave', async () => {
    const d = desk();
    const limit = log(10, 60_000);
    for (const cost of [1, 2, 1.5, 0.5, 1, 4]) {
      await d.say(limit, { cost });
      d.nowUs += SECOND;
    }
    // 6 s have passed since the first.
    const waits = [1, 1.5, 3, 3.5, 5, 6, 6.5, 10].map(async (cost) => (await d.say(limit, { cost, peek: true }))[2]);
    expect((await Promise.all(waits)).map((us) => us / SECOND)).toEqual([54, 55, 55, 56, 57, 58, 59, 59]);
  });

  test('locks nobody out who goes on knocking: refused calls leave nothing behind', async () => {
    const d = desk();
    await d.passing(log(3, 1000), 3);
    for (let i = 0; i < 9; i += 1) {
      d.nowUs += 100_000;
      expect(await d.passing(log(3, 1000), 5)).toBe(0);
    }
    d.nowUs += 100_000;
    expect(await d.passing(log(3, 1000), 5)).toBe(3);
  });

  test('holds at most as many entries as it has units, and never lets more pass for that', async () => {
    const d = desk();
    const limit = log(5, 60_000);
    for (let i = 0; i < 60; i += 1) {
      d.nowUs += 1;
      await d.say(limit, { cost: 0.1 });
    }
    expect(await d.redis.zcard(d.key('a'))).toBe(5);
    expect(await d.say(limit, { cost: 0.1 })).toEqual(['limited', 0, 60 * SECOND - 59]);
    d.nowUs += 60 * SECOND - 56;
    // The fifth entry took up all that came after it.
    expect(await d.say(limit, { cost: 0.1, peek: true })).toEqual(['conforming', 0.4, 0]);
  });

  test('goes on where its totals start over', async () => {
    const d = desk();
    const limit = log(3, 60_000);
    await d.redis.zadd(d.key('a'), d.nowUs - 20 * SECOND, '1999999998', d.nowUs - 10 * SECOND, '1999999999');
    expect(await d.say(limit)).toEqual(['conforming', 0, 0]);
    expect(await d.say(limit)).toEqual(['limited', 0, 40 * SECOND]);
    d.nowUs += 40 * SECOND;
    expect(await d.say(limit)).toEqual(['conforming', 0, 0]);
    expect(await d.say(limit, { cost: 3 })).toEqual(['limited', 0, 60 * SECOND]);
    expect(await d.redis.zrange(d.key('a'), 0, -1)).toEqual(['1999999999', '0', '1']);
  });
});

describe('a sliding-window counter', () => {
  test('counts of the window before what a window that ends now still covers', async () => {
    const d = desk();
    const limit = counter(100, 60_000);
    expect(await d.passing(limit, 120)).toBe(100);
    d.nowUs += MINUTE;
    expect(await d.say(limit)).toEqual(['limited', 0, 600_000]);
    d.nowUs += 15 * SECOND;
    expect(await d.passing(limit, 50)).toBe(25);
    d.nowUs += 30 * SECOND;
    expect(await d.say(limit, { peek: true })).toEqual(['conforming', 50, 0]);
    d.nowUs += 15 * SECOND;
    expect(await d.say(limit, { peek: true })).toEqual(['conforming', 75, 0]);
    d.nowUs += MINUTE;
    expect(await d.say(limit, { peek: true })).toEqual(['conforming', 100, 0]);
  });

  test('says the true wait within a window, into the next, and for all of it', async () => {
    const d = desk();
    const limit = counter(10, 10_000);
    await d.passing(limit, 8);
    d.nowUs += 10 * SECOND;
    await d.passing(limit, 2);
    const waits = [1, 3, 8, 9, 10].map(async (cost) => (await d.say(limit, { cost, peek: true }))[2]);
    // 8 · (1 − s) + 2 + cost ≤ 10 in this window; 2 · (1 − s) + cost ≤ 10 in the next.
    expect((await Promise.all(waits)).map((us) => us / SECOND)).toEqual([1.25, 3.75, 10, 15, 20]);
  });

  test('lets less pass around the edge of a minute than a fixed window, 200', async () => {
    const d = desk();
    d.nowUs += 59 * SECOND;
    const before = await d.passing(counter(100, 60_000), 100);
    d.nowUs += 2 * SECOND;
    expect(before + (await d.passing(counter(100, 60_000), 100))).toBe(101);
  });
});
