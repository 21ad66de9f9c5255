import { expect, test } from 'vitest';
import { encodeTenant } from '../../src/redis/keys.js';
import { scripts } from '../../src/shaping/scripts.js';
import { redisForTests } from './redis-for-tests.js';
import type { ScriptShard } from './script-shard.js';

const redis = redisForTests();

const pauses = (shard: ScriptShard, ...tenants: string[]) =>
  shard.run(scripts.pauses, [shard.nowUs, ...tenants.map(encodeTenant)]);

test('tells of each bucket whether a hand stopped it, in the order of the question', async () => {
  const shard = redis.shard();
  await shard.pause('a:b', true);
  await shard.admit('c', [{ id: 'j1' }]);
  expect(await pauses(shard, 'c', 'a:b', 'nobody')).toEqual([false, true, false]);
  await shard.pause('a:b', false);
  expect(await pauses(shard, 'a:b')).toEqual([false]);
});

test('a rate of 0 is no hand', async () => {
  const shard = redis.shard();
  await shard.admit('a', [{ id: 'j1' }], { ratePerSecond: 0 });
  expect(await pauses(shard, 'a')).toEqual([false]);
});

test('asking changes nothing', async () => {
  const shard = redis.shard();
  await pauses(shard, 'a', 'b');
  expect(await shard.keys()).toEqual([]);
});
