import { expect, test } from 'vitest';
import { allShards } from '../../src/shaping/shard-stats.js';

const IDLE = { dueBuckets: 0, readyBuckets: 0, running: 0, servedPerSecond: 0, meanRunUs: 0, scarceUs: null };

test('one shard is told as it is', () => {
  const only = { dueBuckets: 3, readyBuckets: 2, running: 4, servedPerSecond: 1.5, meanRunUs: 700, scarceUs: 9 };
  expect(allShards([only])).toEqual(only);
  expect(allShards([IDLE])).toEqual(IDLE);
});

test('of several what is counted adds up, and workers are scarce where they are so longest', () => {
  const one = { ...IDLE, dueBuckets: 1, readyBuckets: 2, running: 3, servedPerSecond: 4, scarceUs: 10 };
  const two = { ...IDLE, dueBuckets: 10, readyBuckets: 20, running: 30, servedPerSecond: 40, scarceUs: 500 };
  expect(allShards([one, IDLE, two])).toEqual({
    ...{ dueBuckets: 11, readyBuckets: 22, running: 33, servedPerSecond: 44 },
    ...{ meanRunUs: 0, scarceUs: 500 },
  });
});

test('a mean run counts by what its shard served; one that measured nothing does not count', () => {
  const quick = { ...IDLE, servedPerSecond: 30, meanRunUs: 100 };
  const slow = { ...IDLE, servedPerSecond: 10, meanRunUs: 500 };
  expect(allShards([quick, slow, { ...IDLE, servedPerSecond: 99 }]).meanRunUs).toBeCloseTo(200, 6);
});

test('means of shards that serve nothing any more are still a mean', () => {
  expect(
    allShards([
      { ...IDLE, meanRunUs: 100 },
      { ...IDLE, meanRunUs: 300 },
    ]).meanRunUs,
  ).toBeCloseTo(200, 6);
});
