import { describe, expect, test } from 'vitest';
import { encodeTenant } from '../../src/redis/keys.js';
import { scripts } from '../../src/shaping/scripts.js';
import { redisForTests } from './redis-for-tests.js';
import { EPOCH_MS } from './script-shard.js';

const redis = redisForTests();

describe("when the server's clock steps back", () => {
  test('virtual now goes on at its usual pace: nobody is blocked until the clock has caught up', async () => {
    const shard = redis.shard();
    await shard.admit('a', [{ id: 'j1' }, { id: 'j2' }, { id: 'j3' }], { ratePerSecond: 2 });
    await shard.take('t1');
    shard.nowUs -= 60_000_000;
    expect(await shard.take('t2')).toBe('nothing for 500000 µs');
    shard.nowUs += 499_999;
    expect(await shard.take('t2')).toBe('nothing for 1 µs');
    shard.nowUs += 1;
    expect(await shard.take('t2')).toBe('a j2');
    shard.nowUs += 500_000;
    expect(await shard.take('t3')).toBe('a j3');
  });

  test('again and again, it never goes back and never starts early', async () => {
    const shard = redis.shard();
    await shard.admit('a', [{ id: 'j1' }, { id: 'j2' }], { ratePerSecond: 1 });
    await shard.take('t1');
    let passed = 0;
    for (let i = 0; i < 10; i += 1) {
      shard.nowUs -= 5_000_000;
      await shard.take('x');
      shard.nowUs += 99_000;
      passed += 99_000;
      expect(await shard.take('x')).toBe(`nothing for ${1_000_000 - passed} µs`);
    }
    shard.nowUs += 10_000;
    expect(await shard.take('x')).toBe('a j2');
  });

  test('the offset is dropped once the clock has passed virtual now', async () => {
    const shard = redis.shard();
    const start = shard.nowUs;
    await shard.admit('a', [{ id: 'j1' }]);
    shard.nowUs = start - 1_000_000;
    await shard.admit('a', []);
    expect(await shard.typeField('offset')).toBe(1_000_000);
    shard.nowUs = start + 10_000_000;
    await shard.admit('a', []);
    expect(await shard.typeField('offset')).toBe(0);
    expect(await shard.typeField('last')).toBe(shard.nowUs);
  });

  test('promised instants are by the clock that people see', async () => {
    const shard = redis.shard();
    await shard.admit('a', [{ id: 'j1' }]);
    shard.nowUs -= 3_600_000_000;
    expect((await shard.admit('b', [{ id: 'j2' }])).unixMs).toBe(EPOCH_MS + shard.nowUs / 1000);
  });
});

test('a clock that jumps a minute ahead and comes back delays nobody by it', async () => {
  const shard = redis.shard();
  await shard.admit('a', [{ id: 'j1' }, { id: 'j2' }, { id: 'j3' }], { ratePerSecond: 1 });
  await shard.take('t1');
  shard.nowUs += 60_000_000;
  expect(await shard.take('t2')).toBe('a j2');
  shard.nowUs -= 60_000_000;
  expect(await shard.take('t3')).toBe('nothing for 750000 µs');
});

test('without an explicit instant it is the time of the server', async () => {
  const shard = redis.shard();
  const [before] = await shard.redis.time();
  const [answer] = await shard.run(scripts.admit, ['', 1000, 10, '', encodeTenant('a'), '', '', 0]);
  const [after] = await shard.redis.time();
  const unixMs = answer?.kind === 'answered' ? answer.unixMs : 0;
  expect(unixMs).toBeGreaterThanOrEqual(Number(before) * 1000);
  expect(unixMs).toBeLessThan((Number(after) + 1) * 1000);
});
