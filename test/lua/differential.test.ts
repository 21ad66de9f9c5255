import { expect, test } from 'vitest';
import { agree } from './differential/agree.js';
import { redisForTests } from './redis-for-tests.js';

const redis = redisForTests();

const OPTIONS = { lists: 6, longest: 1500, shrinkMs: 150_000 };
const SEEDS = [1, 2, 3, 4];
const TIMEOUT_MS = 200_000;

test.each(SEEDS)(
  'scripts and model agree on every reply and on all state (seed %i)',
  async (seed) => {
    expect(await agree(() => redis.shard(), { ...OPTIONS, seed, sweeps: false })).toBeGreaterThan(2000);
  },
  TIMEOUT_MS,
);

test.each(SEEDS)(
  'a bucket that was swept and forgotten schedules like one that is remembered (seed %i)',
  async (seed) => {
    expect(await agree(() => redis.shard(), { ...OPTIONS, seed, sweeps: true })).toBeGreaterThan(2000);
  },
  TIMEOUT_MS,
);
