import { describe, expect, test } from 'vitest';
import { ReportReader } from '../../src/policing/limit-report.js';
import { scripts } from '../../src/policing/scripts.js';
import { type Argument, runScript } from '../../src/redis/script.js';
import { BEGIN_US, bucket, LimitDesk } from './limit-desk.js';
import { redisForTests } from './redis-for-tests.js';

const server = redisForTests();

const check = (keys: readonly string[], argv: readonly Argument[]) =>
  runScript(server.redis, { script: scripts.check, keys, argv });
const refund = (keys: readonly string[], argv: readonly Argument[]) =>
  runScript(server.redis, { script: scripts.refund, keys, argv });

const ODD = ['nan', '-nan', 'inf', '-inf', '1e400', '0', '-1', '-0', 'abc', '', '1 2', '1e22'];
const STATEMENTS = [
  ...ODD.flatMap((odd) => [`b ${odd} 10 1`, `b 1 ${odd} 1`, `l 1 10 ${odd}`, `c ${odd} 10 1`]),
  ...['b 11 10 1', 'x 1 10 1', 'b 1 10', 'b', '', 'b 1 10 1 ', ' b 1 10 1', '??b 1 10 1', 'B 1 10 1'],
];

describe('a limit that cannot be', () => {
  test.each(STATEMENTS)('such as "%s" is refused by itself, and nothing of its call is written', async (odd) => {
    const reader = new ReportReader(
      await check(
        ['odd', 'good', 'both', 'odd too', 'last'],
        [BEGIN_US, 1, odd, 1, 'b 1 10 1', 1, `b 1 10 1,${odd}`, 1, 'b 1 10 1'],
      ),
    );
    const applied = { limit: bucket(1e6, 10) };
    const reports = [1, 1, 2, 1].map((limits) => reader.next(Array.from({ length: limits }, () => applied)));
    expect(reports.map((report) => (report instanceof Error ? report.message : report.conforming))).toEqual([
      'ERR an argument is out of range',
      true,
      'ERR an argument is out of range',
      true,
    ]);
    expect((await server.redis.keys('*')).sort()).toEqual(['good', 'last']);
    await server.redis.flushall();
  });

  test.each(STATEMENTS)('such as "%s" is refused by a refund', async (odd) => {
    await expect(refund(['a'], [BEGIN_US, BEGIN_US, odd, '0'])).rejects.toThrow('ERR an argument is out of range');
  });
});

describe('arguments that do not fit together', () => {
  test.each([
    { name: 'a key too few', keys: [], argv: ['', 1, 'b 1 10 1'] },
    { name: 'a key too many', keys: ['a', 'b'], argv: ['', 1, 'b 1 10 1'] },
    { name: 'a key too few for a call of two limits', keys: ['a', 'b', 'c'], argv: ['', 2, 'b 1 10 1,b 1 10 1'] },
    { name: 'a call that states nothing', keys: ['a'], argv: ['', 1] },
    ...['0', '-1', '0.5', 'nan', 'many', ''].map((calls) => ({
      name: `${calls} calls`,
      keys: ['a'],
      argv: ['', calls, 'b 1 10 1'],
    })),
    { name: 'no instant at all', keys: [], argv: [] },
    ...['nan', 'inf', '-1', '0', 'now', '1e22'].map((now) => ({
      name: `now = ${now}`,
      keys: ['a'],
      argv: [now, 1, 'b 1 10 1'],
    })),
  ])('are refused before anything is written: $name', async ({ keys, argv }) => {
    await expect(check(keys, argv)).rejects.toThrow(/ERR/);
    expect(await server.redis.dbsize()).toBe(0);
  });

  test.each([
    { name: 'no level', argv: [BEGIN_US, BEGIN_US, 'b 1 10 1'] },
    { name: 'a level below 0', argv: [BEGIN_US, BEGIN_US, 'b 1 10 1', '-1'] },
    { name: 'a level that is no number', argv: [BEGIN_US, BEGIN_US, 'b 1 10 1', 'nan'] },
    { name: 'a part of a microsecond', argv: [BEGIN_US, BEGIN_US + 0.5, 'b 1 10 1', '0'] },
    { name: 'no instant', argv: [BEGIN_US, 'inf', 'b 1 10 1', '0'] },
  ])('are refused by a refund: $name', async ({ argv }) => {
    await expect(refund(['a'], argv)).rejects.toThrow(/ERR/);
  });
});

test('no calls come to nothing', async () => {
  expect(await check([], [BEGIN_US])).toEqual([BEGIN_US]);
});

test('more different limits than the script remembers are decided like any others', async () => {
  const desk = new LimitDesk(server.redis);
  for (let i = 1; i <= 2500; i += 250) {
    const calls = Array.from({ length: 250 }, (_, n) => ({ limits: { [`n${i + n}`]: bucket(1, i + n) }, peek: true }));
    const reports = await desk.decide(calls);
    expect(reports).toMatchObject(calls.map((_, n) => ({ readings: [{ remaining: i + n }] })));
  }
  expect((await desk.say(bucket(1, 1), { peek: true }))[1]).toBe(1);
});

test('without an explicit instant the clock is the server’s', async () => {
  const desk = new LimitDesk(server.redis);
  const epochUs = Date.UTC(2025, 0, 1) * 1000;
  const microseconds = ([seconds = 0, us = 0]: readonly (string | number)[]) =>
    Number(seconds) * 1e6 + Number(us) - epochUs;
  const before = microseconds(await server.redis.time());
  const [report] = await desk.decide([{ limits: { a: bucket(0.001, 3) } }], '');
  const after = microseconds(await server.redis.time());
  if (report === undefined || report instanceof Error) throw report;
  expect(report.atUs).toBeGreaterThanOrEqual(before);
  expect(report.atUs).toBeLessThanOrEqual(after);
  expect(await server.redis.pttl(desk.key('a'))).toBeLessThanOrEqual(3_001_000);
});
