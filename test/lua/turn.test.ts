import { beforeEach, describe, expect, test } from 'vitest';
import { scripts } from '../../src/shaping/scripts.js';
import { redisForTests } from './redis-for-tests.js';
import type { ScriptShard } from './script-shard.js';

const redis = redisForTests();
const FREE = { ratePerSecond: Infinity };
const DONE = { kind: 'completed', value: '1' } as const;

let shard: ScriptShard;
beforeEach(() => {
  shard = redis.shard();
  shard.floor = 0;
});

const turn = () => shard.run(scripts.turn, [shard.nowUs, shard.floor]);
const jobs = (tenant: string, count: number, cost = 1) =>
  Array.from({ length: count }, (_, i) => ({ id: `${tenant}${i}`, cost }));
const fill = (tenant: string, count: number, weight = 1, cost = 1) =>
  shard.admit(tenant, jobs(tenant, count, cost), { ...FREE, weight });

async function serve(token: string) {
  const found = await shard.dispatch(token);
  if (found.kind !== 'job') throw new Error(`nothing for ${found.waitUs} µs`);
  return found;
}

describe('where a shard stands', () => {
  test('an empty one has nothing until an event', async () => {
    expect(await turn()).toEqual({ virtualTime: 0, head: null, waitUs: null });
  });

  test('one in which something comes due says when', async () => {
    await shard.admit('a', jobs('a', 2), { ratePerSecond: 10 });
    await serve('t1');
    expect(await turn()).toMatchObject({ head: null, waitUs: 100_000 });
  });

  test('one in which something is ready says under which tag, and so does every dispatch', async () => {
    await fill('a', 3, 0.5);
    await fill('b', 3);
    expect((await serve('t1')).turn).toEqual({ virtualTime: 0, head: 0, waitUs: 0 });
    expect((await serve('t2')).turn).toEqual({ virtualTime: 0, head: 1, waitUs: 0 });
    expect(await turn()).toEqual({ virtualTime: 0, head: 1, waitUs: 0 });
  });

  test('one whose type is held has nothing before that ends', async () => {
    await fill('a', 1);
    await shard.run(scripts.hold, [shard.nowUs, 500]);
    expect(await turn()).toMatchObject({ head: null, waitUs: 500_000 });
  });

  test('the last job of all says how long nothing is ready', async () => {
    await shard.admit('a', jobs('a', 2), { ratePerSecond: 10 });
    expect((await serve('t1')).turn).toEqual({ virtualTime: 0, head: null, waitUs: 100_000 });
  });
});

describe('virtual time goes by one scale with that of other shards', () => {
  test('where nothing is ready it is what it is elsewhere', async () => {
    shard.floor = 7.5;
    expect(await turn()).toMatchObject({ virtualTime: 7.5 });
  });

  test('it never goes back', async () => {
    shard.floor = 7.5;
    await turn();
    shard.floor = 3;
    expect(await turn()).toMatchObject({ virtualTime: 7.5 });
  });

  test('a bucket that was idle while others were served earns no credit, though nobody had told the shard', async () => {
    await fill('a', 3);
    shard.floor = 100;
    expect((await serve('t1')).turn).toMatchObject({ virtualTime: expect.closeTo(100, 9) });
    expect(await turn()).toMatchObject({ head: expect.closeTo(101, 9) });
  });

  test('nor does one that joins it later within the same time without a pause', async () => {
    await fill('a', 3);
    shard.floor = 100;
    await serve('t1');
    await fill('b', 3);
    expect((await serve('t2')).turn).toMatchObject({ virtualTime: expect.closeTo(100, 9) });
  });

  test('what comes due in the dispatch itself starts from there', async () => {
    await shard.admit('a', jobs('a', 2), { ratePerSecond: 10 });
    await serve('t1');
    shard.nowUs += 100_000;
    shard.floor = 50;
    expect((await serve('t2')).turn).toMatchObject({ virtualTime: expect.closeTo(50, 9) });
  });

  test('a shard that was ready all the time keeps what it is owed', async () => {
    await fill('a', 5);
    await serve('t1');
    shard.floor = 40;
    expect(await turn()).toEqual({ virtualTime: 1, head: 1, waitUs: 0 });
    expect((await serve('t2')).turn).toMatchObject({ virtualTime: 1, head: 2 });
  });

  test('who is far ahead does not keep a newcomer from what virtual time has come to', async () => {
    await fill('a', 2, 0.1, 10);
    await serve('t1');
    shard.floor = 20;
    expect(await turn()).toMatchObject({ virtualTime: 20, head: 100 });
    await fill('b', 1);
    expect(await turn()).toMatchObject({ head: expect.closeTo(20, 9) });
  });

  test('a share counts from where the shard joined the others', async () => {
    await fill('a', 3);
    shard.floor = 100;
    await serve('t1');
    await serve('t2');
    const { servedPerSecond, deservedPerSecond } = await shard.inspect('a');
    expect(servedPerSecond).toBeCloseTo(2 / 60, 6);
    expect(deservedPerSecond).toBeLessThanOrEqual(2 / 60);
  });
});

describe('a shard at rest', () => {
  test('does not take its own rest for that of all', async () => {
    await fill('a', 1, 0.1, 10);
    await serve('t1');
    await shard.settle({ token: 't1', tenant: 'a', id: 'a0' }, DONE, 't2');
    expect(await turn()).toMatchObject({ virtualTime: 0 });
  });

  test('says to a sweep up to where its books go', async () => {
    await fill('a', 1, 0.1, 10);
    await serve('t1');
    expect((await shard.sweep()).idleAt).toBeNull();
    await shard.settle({ token: 't1', tenant: 'a', id: 'a0' }, DONE, 't2');
    expect((await shard.sweep()).idleAt).toBe(100);
  });
});

test('whose slot goes on elsewhere wakes nobody for what is ready', async () => {
  await fill('a', 2);
  await serve('t1');
  const settled = await shard.settle({ token: 't1', tenant: 'a', id: 'a0' }, DONE, '-');
  expect(settled).toEqual({ verdict: 'settled', next: { kind: 'nothing', waitUs: null } });
});
