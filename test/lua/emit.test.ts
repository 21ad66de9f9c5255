import { expect, test } from 'vitest';
import { scripts } from '../../src/shaping/scripts.js';
import { redisForTests } from './redis-for-tests.js';
import type { ScriptShard } from './script-shard.js';

const redis = redisForTests();

async function running(): Promise<ScriptShard> {
  const shard = redis.shard();
  await shard.admit('a', [{ id: 'j1' }]);
  await shard.take('t1');
  return shard;
}

const emit = (shard: ScriptShard, token: string, first: number, ...chunks: string[]) =>
  shard.run(scripts.emit, [token, first, ...chunks]);

async function output(shard: ScriptShard): Promise<string[]> {
  const entries = await shard.redis.xrange(shard.queueKey('a', 'j1:output'), '-', '+');
  return entries.map(([id, fields]) => `${id} ${fields.join(' ')}`);
}

test('chunks are stored in order under their run and number, and told to those who follow', async () => {
  const shard = await running();
  expect(await emit(shard, 't1', 1, '"a"', '"b"')).toBe('stored');
  expect(await emit(shard, 't1', 3, '{"c":1}')).toBe('stored');
  expect(await output(shard)).toEqual(['1-1 c "a"', '1-2 c "b"', '1-3 c {"c":1}']);
  const [last] = await shard.redis.xrevrange(shard.key('events'), '+', '-', 'COUNT', 1);
  expect(last?.[1]).toEqual(['event', 'output', 'jobId', 'j1']);
});

test('a repeated call stores nothing twice, and one that was half known the rest', async () => {
  const shard = await running();
  await emit(shard, 't1', 1, '"a"', '"b"');
  await emit(shard, 't1', 1, '"a"', '"b"');
  await emit(shard, 't1', 2, '"b"', '"c"');
  expect(await output(shard)).toEqual(['1-1 c "a"', '1-2 c "b"', '1-3 c "c"']);
});

test('another run of the job starts its output anew, under ids that are behind the former ones', async () => {
  const shard = await running();
  await emit(shard, 't1', 1, '"a"', '"b"');
  const held = { token: 't1', tenant: 'a', id: 'j1' };
  await shard.settle(held, { kind: 'retry', value: '', delayMs: 0, front: true });
  shard.nowUs += 2_000_000;
  await shard.take('t2');
  expect(await output(shard)).toEqual(['1-1 c "a"', '1-2 c "b"']);
  await emit(shard, 't2', 1, '"x"');
  expect(await output(shard)).toEqual(['2-1 c "x"']);
});

test('a worker that lost its job stores nothing', async () => {
  const shard = await running();
  await shard.dropLock('a', 'j1');
  await shard.recover(1);
  expect(await emit(shard, 't1', 1, '"a"')).toBe('lost');
  expect(await output(shard)).toEqual([]);
});

test('a job whose hash went missing has no output', async () => {
  const shard = await running();
  await shard.redis.del(shard.queueKey('a', 'j1'));
  expect(await emit(shard, 't1', 1, '"a"')).toBe('lost');
  expect(await output(shard)).toEqual([]);
});

test('output goes with the result when more than so many results are there', async () => {
  const shard = await running();
  shard.keepCount = 1;
  await emit(shard, 't1', 1, '"a"');
  await shard.settle({ token: 't1', tenant: 'a', id: 'j1' }, { kind: 'completed', value: '1' });
  expect(await output(shard)).toHaveLength(1);
  await shard.admit('a', [{ id: 'j2' }]);
  await shard.cancel('a', 'j2');
  expect(await output(shard)).toHaveLength(1);
  shard.nowUs += 2_000_000;
  await shard.admit('a', [{ id: 'j3' }]);
  await shard.take('t3');
  await shard.settle({ token: 't3', tenant: 'a', id: 'j3' }, { kind: 'completed', value: '1' });
  expect(await output(shard)).toEqual([]);
});

test('a run emits a megabyte, chunks counting eight bytes beside their text, and what is beyond is refused whole', async () => {
  const shard = await running();
  const large = 'x'.repeat(524_280);
  expect(await emit(shard, 't1', 1, large)).toBe('stored');
  expect(await emit(shard, 't1', 1, large), 'what is sent again does not count again').toBe('stored');
  expect(await emit(shard, 't1', 2, 'a', large)).toBe('full');
  expect(await output(shard)).toHaveLength(1);
  expect(await emit(shard, 't1', 2, large)).toBe('stored');
  expect(await emit(shard, 't1', 3, '')).toBe('full');
  await shard.settle({ token: 't1', tenant: 'a', id: 'j1' }, { kind: 'retry', value: '', delayMs: 0, front: true });
  shard.nowUs += 2_000_000;
  await shard.take('t2');
  expect(await emit(shard, 't2', 1, large), 'another run has all of it again').toBe('stored');
});
