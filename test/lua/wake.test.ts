import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { redisForTests } from './redis-for-tests.js';
import type { ScriptShard } from './script-shard.js';
import { happening, nobodyOversleeps } from './sleepers.js';
import { wakeUps } from './wake-ups.js';

const redis = redisForTests();

describe('a message goes out', () => {
  test.each<{
    title: string;
    before: (shard: ScriptShard) => Promise<unknown>;
    act: (shard: ScriptShard) => Promise<unknown>;
    heard: string[];
  }>([
    {
      title: 'when something becomes ready where nothing was',
      before: async () => undefined,
      act: (shard) => shard.admit('a', [{ id: 'j1' }]),
      heard: ['wake'],
    },
    {
      title: 'not when something was ready already',
      before: (shard) => shard.admit('a', [{ id: 'j1' }]),
      act: (shard) => shard.admit('b', [{ id: 'j2' }]),
      heard: [],
    },
    {
      title: 'when the first due instant moves forward',
      before: (shard) => shard.admit('a', [{ id: 'd1', delayMs: 500 }]),
      act: (shard) => shard.admit('b', [{ id: 'd2', delayMs: 400 }]),
      heard: ['wake'],
    },
    {
      title: 'not when it moves back',
      before: (shard) =>
        shard.admit('a', [
          { id: 'd1', delayMs: 500 },
          { id: 'd2', delayMs: 900 },
        ]),
      act: (shard) => shard.cancel('a', 'd1'),
      heard: [],
    },
    {
      title: 'not for what is due later than something else',
      before: (shard) => shard.admit('a', [{ id: 'd1', delayMs: 500 }]),
      act: (shard) => shard.admit('b', [{ id: 'd2', delayMs: 600 }]),
      heard: [],
    },
  ])('$title', async ({ before, act, heard }) => {
    const shard = redis.shard();
    await before(shard);
    const ears = await wakeUps(shard);
    await act(shard);
    expect(await ears.heard()).toEqual(heard);
    ears.close();
  });
});

test('whatever happens, some idle worker looks as soon as something may start', async () => {
  const property = fc.asyncProperty(fc.array(happening, { maxLength: 60, size: 'max' }), (happenings) =>
    nobodyOversleeps(redis.shard(), happenings),
  );
  await fc.assert(property, { seed: 11, numRuns: 100 });
});
