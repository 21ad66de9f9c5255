import { describe, expect, test } from 'vitest';
import type { Limit } from '../../src/model/limit.js';
import { bucket, counter, LimitDesk, log } from './limit-desk.js';
import { redisForTests } from './redis-for-tests.js';

const server = redisForTests();
const desk = (): LimitDesk => new LimitDesk(server.redis);

const SECOND = 1_000_000;
const YEAR = 365 * 86_400 * SECOND;

/** One limit of each algorithm, 5 in ten seconds. */
const FIVE: readonly { readonly name: string; readonly limit: Limit }[] = [
  { name: 'token bucket', limit: bucket(0.5, 5) },
  { name: 'log', limit: log(5, 10_000) },
  { name: 'counter', limit: counter(5, 10_000) },
];

describe.each(FIVE)('a $name', ({ limit }) => {
  test('is exactly full after ten years', async () => {
    const d = desk();
    await d.passing(limit, 9);
    d.nowUs += 10 * YEAR;
    expect(await d.say(limit, { peek: true })).toEqual(['conforming', 5, 0]);
    expect(await d.passing(limit, 9)).toBe(5);
  });

  test('is changed neither by a refusal nor by a peek', async () => {
    const d = desk();
    await d.passing(limit, 5);
    d.nowUs += 100_000;
    const before = await d.everything();
    expect(before.length).toBeGreaterThan(0);
    expect(await d.passing(limit, 3)).toBe(0);
    for (const cost of [0.01, 1, 5]) await d.say(limit, { cost, peek: true });
    await d.ask({ limits: { b: limit, c: log(3, 1000) }, peek: true });
    expect(await d.everything()).toEqual(before);
  });

  test('says the same to a peek as to the call', async () => {
    const d = desk();
    for (let i = 0; i < 7; i += 1) {
      const peeked = await d.ask({ limits: { a: limit }, peek: true });
      const asked = await d.ask({ limits: { a: limit } });
      expect([asked.conforming, asked.waitsUs]).toEqual([peeked.conforming, peeked.waitsUs]);
      d.nowUs += 300_000;
    }
  });

  test('blocks nobody longer than its window when the clock has stepped back, and then goes on as usual', async () => {
    const d = desk();
    expect(await d.passing(limit, 5)).toBe(5);
    d.nowUs -= 3600 * SECOND;
    const [verdict, , waitUs] = await d.say(limit);
    expect(verdict).toBe('limited');
    expect(waitUs).toBeLessThanOrEqual(20 * SECOND);
    d.nowUs += waitUs;
    expect((await d.say(limit))[0]).toBe('conforming');
    d.nowUs += 20 * SECOND;
    expect(await d.passing(limit, 9)).toBe(5);
  });

  test('does not let more pass because the clock has stepped back a little', async () => {
    const d = desk();
    await d.passing(limit, 5);
    for (let i = 0; i < 5; i += 1) {
      d.nowUs -= 10_000;
      expect(await d.passing(limit, 2)).toBe(0);
    }
  });

  test('is whole at once when the clock has stepped far ahead', async () => {
    const d = desk();
    await d.passing(limit, 5);
    d.nowUs += 3600 * SECOND;
    expect(await d.passing(limit, 9)).toBe(5);
  });

  test('has a key that expires, whatever was done to it', async () => {
    const d = desk();
    const taken = await d.ask({ limits: { a: limit }, cost: 1.5 });
    await d.passing(limit, 9);
    d.nowUs -= 5 * SECOND;
    await d.passing(limit, 3);
    await d.refund(taken);
    expect(await d.redis.pttl(d.key('a'))).toBeGreaterThan(0);
  });
});

describe('several limits', () => {
  const all = { s: bucket(5, 5), m: log(8, 60_000), d: counter(100, 86_400_000) };

  test('are decided together: refused by one, charged to none', async () => {
    const d = desk();
    const reports = await d.decide(Array.from({ length: 7 }, () => ({ limits: all })));
    expect(reports.map((report) => 'conforming' in report && report.conforming)).toEqual([
      ...Array.from({ length: 5 }, () => true),
      ...[false, false],
    ]);
    const { readings, waitsUs } = await d.ask({ limits: all, peek: true });
    expect(readings.map(({ remaining }) => remaining)).toEqual([0, 3, 95]);
    expect(waitsUs).toEqual([200_000, 0, 0]);
  });

  test('each say how long they refuse', async () => {
    const d = desk();
    for (let i = 0; i < 8; i += 1) {
      await d.ask({ limits: all });
      d.nowUs += SECOND;
    }
    const { conforming, readings, waitsUs } = await d.ask({ limits: all, cost: 5 });
    expect(conforming).toBe(false);
    expect(waitsUs).toEqual([0, 56 * SECOND, 0]);
    expect(readings.map(({ remaining }) => remaining)).toEqual([5, 0, 92]);
  });
});

describe('many calls in one', () => {
  test('are decided one after another, as if each had come alone', async () => {
    const [one, other] = [desk(), desk()];
    const calls = Array.from({ length: 30 }, (_, i) => ({
      limits: i % 3 === 0 ? { a: bucket(1, 4), b: log(6, 1000) } : { b: log(6, 1000) },
      cost: 1 + (i % 2),
      peek: i % 5 === 0,
    }));
    const together = await one.decide(calls);
    const alone: unknown[] = [];
    for (const call of calls) alone.push(await other.ask(call));
    const verdicts = (reports: readonly unknown[]) =>
      reports.map((report) => JSON.stringify(report).replace(/,"keys.*/, ''));
    expect(verdicts(together)).toEqual(verdicts(alone));
  });

  test('do not fail with one whose key holds something else, which changes nothing', async () => {
    const d = desk();
    await d.redis.set(d.key('bad'), 'not ours');
    await d.redis.sadd(d.key('worse'), 'a set');
    const calls = [
      { a: bucket(1, 5) },
      { a: bucket(1, 5), worse: log(5, 1000) },
      { bad: bucket(1, 5) },
      { a: bucket(1, 5) },
    ];
    const reports = await d.decide(calls.map((limits) => ({ limits })));
    expect(reports.map((report) => (report instanceof Error ? report.message : report.conforming))).toEqual([
      true,
      expect.stringContaining('WRONGTYPE'),
      expect.stringContaining('too short'),
      true,
    ]);
    expect(await d.say(bucket(1, 5), { peek: true })).toEqual(['conforming', 3, 0]);
  });
});
