import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BUCKET, fullness, leak, waterPath } from '../../src/dashboard/public/pure/bucket-shape.js';
import { listHeight, seenItems, wantedWindow } from '../../src/dashboard/public/pure/list-window.js';
import { reconnectAfterMs } from '../../src/dashboard/public/pure/reconnect-after.js';
import { backlogY, RESERVOIR, streamWidth, workerMarks } from '../../src/dashboard/public/pure/reservoir-shape.js';

const ROW = { mode: 'shape' as const, waiting: 0, delayed: 0, depth: 240, level: 0, burst: 1 };

describe('a bucket as it is drawn', () => {
  it.each([
    ['empty', ROW, 0],
    ['full when as many wait as may, delayed ones included', { ...ROW, waiting: 200, delayed: 40 }, 1],
    ['no fuller than full when returned jobs come on top', { ...ROW, waiting: 250 }, 1],
    ['half', { ...ROW, waiting: 120 }, 0.5],
    ['by its level where jobs are policed', { ...ROW, mode: 'police' as const, level: 25, burst: 100 }, 0.25],
    ['by powers of ten where the depth is unlimited', { ...ROW, depth: null, waiting: 999 }, 0.6],
  ])('is %s', (_, row, fraction) => expect(fullness(row)).toBeCloseTo(fraction, 3));

  it('shows water that is there, up to the line of the depth', () => {
    expect(waterPath(0)).toBe('');
    expect(waterPath(1)).toContain(` ${BUCKET.depthY}H`);
    expect(waterPath(0.0001)).not.toBe('');
  });

  it.each([
    ['drops at its rate', { ratePerSecond: 2 }, { flow: 'drops', periodMs: 500 }],
    ['a stream where drops were too fast to see', { ratePerSecond: 50 }, { flow: 'stream', periodMs: 0 }],
    ['a stream without a rate', { ratePerSecond: null }, { flow: 'stream', periodMs: 0 }],
    ['nothing while nothing waits', { waiting: 0 }, { flow: 'none', periodMs: Infinity }],
    ['nothing, and a plug, while paused', { paused: true }, { flow: 'plugged', periodMs: Infinity }],
    ['a plug where the rate is 0', { ratePerSecond: 0 }, { flow: 'plugged', periodMs: Infinity }],
    ['a plug while its upstream is busy', { trouble: ['held' as const] }, { flow: 'plugged', periodMs: Infinity }],
  ])('leaks %s', (_, change, expected) => {
    const row = { waiting: 5, running: 0, ratePerSecond: 1, paused: false, trouble: [], ...change };
    expect(leak(row)).toEqual(expected);
  });
});

describe('a reservoir as it is drawn', () => {
  it('rises with its backlog, and stays within its walls', () => {
    expect(backlogY(0)).toBe(RESERVOIR.floor);
    expect(backlogY(10_000_000)).toBe(RESERVOIR.top);
    fc.assert(fc.property(fc.nat(200_000), (jobs) => backlogY(jobs + 1) <= backlogY(jobs)));
  });

  it('has streams as thick as they are strong', () => {
    expect([0, 10, 20, 500].map((flow) => streamWidth(flow, 20))).toEqual([0, 8, 14, 14]);
  });

  it('marks busy workers, and one at least where one is', () => {
    expect(workerMarks({ busy: 2, running: 2, concurrency: 3 })).toEqual([true, true, false]);
    expect(workerMarks({ busy: 1, running: 1, concurrency: 1000 }).filter(Boolean)).toHaveLength(1);
    expect(workerMarks({ busy: null, running: 2, concurrency: null })).toEqual([]);
  });
});

describe('a list of which a part is drawn', () => {
  const shapes = fc.record({
    total: fc.nat(5000),
    columns: fc.integer({ min: 1, max: 6 }),
    rowHeight: fc.constant(148),
  });

  it('draws what is on the screen, and no more than a few rows around it', () => {
    fc.assert(
      fc.property(
        shapes,
        fc.integer({ min: -2000, max: 800_000 }),
        fc.integer({ min: 300, max: 2000 }),
        (shape, y, height) => {
          const { from, to } = seenItems(shape, y, height);
          const onScreen = Array.from({ length: shape.total }, (_, index) => index).filter((index) => {
            const top = Math.floor(index / shape.columns) * shape.rowHeight;
            return top + shape.rowHeight > y && top < y + height;
          });
          expect(onScreen.every((index) => index >= from && index < to)).toBe(true);
          expect(to - from).toBeLessThanOrEqual((Math.ceil(height / shape.rowHeight) + 5) * shape.columns);
        },
      ),
    );
  });

  it('asks for a window that holds what is seen, and then asks for no other', () => {
    fc.assert(
      fc.property(fc.nat(4900), fc.integer({ min: 1, max: 80 }), fc.nat(4000), (from, length, before) => {
        const seen = { from, to: from + length };
        const window = wantedWindow(seen, { from: before, count: 60 });
        expect(window.from).toBeLessThanOrEqual(seen.from);
        expect(window.from + window.count).toBeGreaterThanOrEqual(seen.to);
        expect(window.count).toBeLessThanOrEqual(200);
        expect(wantedWindow(seen, window)).toBe(window);
      }),
    );
  });

  it('is as high as its rows', () => expect(listHeight({ total: 7, columns: 3, rowHeight: 100 })).toBe(300));
});

it('comes back soon at first and never less often than every ten seconds, not all pages at once', () => {
  expect([1, 2, 3, 30].map((failures) => reconnectAfterMs(failures, 1))).toEqual([500, 1000, 2000, 10_000]);
  expect(reconnectAfterMs(30, 0)).toBe(5000);
});
