import { expect, test } from 'vitest';
import type { Outcome } from '../../src/shaping/work-source.js';
import { redisForTests } from './redis-for-tests.js';

const redis = redisForTests();

const TENANTS = 100_000;
const TOGETHER = 500;
const SLOTS = 16;
/** What all tenants of a shard share, whether they are there or not. */
const SHARED = ['events', 'id', 'marker', 'meta', 'type'];
const OUTCOMES: readonly Outcome[] = [
  { kind: 'completed', value: '1' },
  { kind: 'failed', value: 'no' },
  { kind: 'cancelled', value: 'cancelled' },
];

test('a hundred thousand tenants, each with a job, leave nothing once their results are over', {
  timeout: 1_800_000,
}, async () => {
  const shard = redis.shard();
  let ended = 0;
  /** Runs jobs until nothing may start. */
  const serve = async (slot: number): Promise<void> => {
    let token = `${slot}-${ended}-first`;
    let next = await shard.dispatch(token);
    while (next.kind === 'job') {
      const outcome = OUTCOMES[ended % OUTCOMES.length] ?? OUTCOMES[0];
      if (outcome === undefined) throw new Error('there are outcomes');
      ended += 1;
      const held = { token, tenant: decodeURIComponent(next.tenant), id: next.id };
      token = `${slot}-${ended}`;
      ({ next } = await shard.settle(held, outcome, token));
    }
  };
  for (let first = 0; first < TENANTS; first += TOGETHER) {
    const some = Array.from({ length: TOGETHER }, (_, i) => first + i);
    await Promise.all(some.map((i) => shard.admit(`tenant ${i}`, [{ id: `j${i}`, idempotencyKey: `k${i}` }])));
    await Promise.all(Array.from({ length: SLOTS }, (_, slot) => serve(slot)));
  }
  expect(ended).toBe(TENANTS);
  // A call of the real clock removes idempotency keys; results go by the clock of this test.
  shard.nowUs += 2 * shard.keepAgeMs * 1000;
  for (let looked = 1; looked > 0; ) looked = (await shard.sweep()).tenants;
  expect((await shard.keys()).filter((key) => !SHARED.includes(key))).toEqual([]);
});
