import { expect, test } from 'vitest';
import { crowdOf } from '../../../src/dashboard/view/crowd.js';
import { typeRow } from '../../../src/dashboard/view/type-row.js';
import type { TypeView } from '../../../src/shaping/shaping.js';
import { AT_MS, bucket } from '../support/buckets.js';

const VIEW: TypeView = {
  type: 'ocr',
  capacity: { ratePerSecond: 20, burst: 1, concurrency: 4 },
  ...{ backloggedBuckets: 2, readyBuckets: 1, running: 3, servedPerSecond: 2, meanRunMs: null, scarceForMs: null },
};
const still = { ratePerSecond: 0, burst: 1, concurrency: Infinity };

test.each([
  { title: 'keeps up', of: {}, late: 0, is: { behind: false, paused: false, busy: 3, concurrency: 4, slipMs: 0 } },
  { title: 'is a little late', of: {}, late: 1000, is: { behind: false, slipMs: 1000 } },
  { title: 'is late by more than a second', of: {}, late: 1001, is: { behind: true, slipMs: 1001 } },
  {
    title: 'has had too few workers for 5 s',
    of: { scarceForMs: 5000 },
    late: 0,
    is: { behind: true, scarceForMs: 5000 },
  },
  { title: 'has too few workers just now', of: { scarceForMs: 4999 }, late: 0, is: { behind: false } },
  { title: 'has nothing that is ready', of: { readyBuckets: 0 }, late: 0, is: { behind: false, slipMs: null } },
  {
    title: 'is paused',
    of: { capacity: still, scarceForMs: 9000 },
    late: 9000,
    is: { behind: false, paused: true, capacityPerSecond: 0, concurrency: null },
  },
])('a type that $title', ({ of, late, is }) => {
  const view = { ...VIEW, ...of };
  const buckets = [
    bucket({ waiting: 2, lateMs: late, longestMs: 70 }),
    bucket({ waiting: 1, delayed: 4, longestMs: 80, atMs: AT_MS - 10 }),
  ];
  const row = typeRow(view, { rates: { in: 1.234, out: 0 }, buckets, crowd: crowdOf(view, buckets), atMs: AT_MS });
  expect(row).toMatchObject({
    type: 'ocr',
    inPerSecond: 1.23,
    waiting: 3,
    delayed: 4,
    oldestMs: 90,
    jain: null,
    ...is,
  });
});
