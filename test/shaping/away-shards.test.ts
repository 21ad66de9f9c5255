import { expect, test } from 'vitest';
import { AwayShards } from '../../src/shaping/away-shards.js';

const PASSING = new Error('Connection is closed.');

/** Shards that are looked at until `isBack` says so. */
function shards(isBack: (looks: number) => boolean) {
  const looked: number[] = [];
  const backs: string[] = [];
  const away = new AwayShards(
    async (shard) => {
      looked.push(shard);
      if (!isBack(looked.length)) throw PASSING;
    },
    (shard) => backs.push(`first ${shard}`),
  );
  return { away, looked, backs };
}

test('a shard that is away is looked at until it is back, which is told once, in order', async () => {
  const { away, looked, backs } = shards((looks) => looks === 3);
  const stop = away.onBack((shard) => backs.push(`then ${shard}`));
  away.add(7);
  away.add(7);
  expect([away.size, away.has(7), away.has(6)]).toEqual([1, true, false]);
  await expect.poll(() => backs).toEqual(['first 7', 'then 7']);
  expect([away.size, looked]).toEqual([0, [7, 7, 7]]);
  stop();
  away.add(7);
  await expect.poll(() => looked.length).toBe(4);
  expect(backs).toEqual(['first 7', 'then 7']);
  away.clear();
});

test('a fault that does not pass ends the looking: whoever asks next hears of it', async () => {
  const backs: number[] = [];
  const away = new AwayShards(
    () => Promise.reject(new Error('ERR broken')),
    (shard) => backs.push(shard),
  );
  away.add(1);
  await expect.poll(() => backs).toEqual([1]);
  expect(away.has(1)).toBe(false);
});

test('what is no longer told apart is looked at no longer', async () => {
  const { away, looked } = shards(() => false);
  away.add(1);
  away.add(2);
  away.clear();
  expect(away.size).toBe(0);
  const { away: other, backs } = shards(() => true);
  other.add(3);
  await expect.poll(() => backs).toEqual(['first 3']);
  // One look may have been on its way when both were forgotten.
  expect(looked.length).toBeLessThanOrEqual(2);
});
