import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { previewOf } from '../../../src/dashboard/preview-route.js';
import { DoorMinute } from '../../../src/dashboard/view/door-minute.js';
import { smoothed, unitsIn, unitsServed } from '../../../src/dashboard/view/flow.js';
import { History, STEP_MS } from '../../../src/dashboard/view/history.js';
import { percentiles } from '../../../src/dashboard/view/percentiles.js';
import { previewUs } from '../../../src/dashboard/view/preview.js';
import { becomeBacklogged, levelAt, startableAtUs, startJob } from '../../../src/model/bucket.js';
import { DEFAULT_PROFILE } from '../../../src/model/profile.js';
import { paceOf } from '../../../src/shaping/profile-bytes.js';
import { AT_MS, bucket } from '../support/buckets.js';

describe('flows', () => {
  test('what was served between two readings is found again in what fades', () => {
    const starts = fc.array(fc.record({ atMs: fc.nat(2000), cost: fc.integer({ min: 1, max: 50 }) }), {
      maxLength: 30,
    });
    const before = fc.double({ min: 0, max: 100, noNaN: true });
    fc.assert(
      fc.property(starts, before, (all, servedPerSecond) => {
        const faded = (ms: number) => Math.exp(-ms / 60_000);
        const after =
          servedPerSecond * faded(2000) +
          all.reduce((sum, { atMs, cost }) => sum + (cost * faded(2000 - atMs)) / 60, 0);
        const units = unitsServed({ servedPerSecond, atMs: 0 }, { servedPerSecond: after, atMs: 2000 });
        const real = all.reduce((sum, { cost }) => sum + cost, 0);
        expect(units).toBeGreaterThanOrEqual(0.96 * real - 1e-6);
        expect(units).toBeLessThanOrEqual(real + 1e-6);
      }),
    );
  });

  test.each([
    { out: 5, before: 10, after: 10, is: 5 },
    { out: 5, before: 10, after: 12, is: 7 },
    { out: 5, before: 10, after: 6, is: 1 },
    { out: 0, before: 10, after: 0, is: 0 },
  ])('what came in is $out and what stands there more than $before: $is', ({ out, before, after, is }) => {
    expect(unitsIn(out, before, after)).toBe(is);
  });

  test('a rate that goes on comes to what it is', () => {
    let rate = 0;
    for (let i = 0; i < 60; i += 1) rate = smoothed(rate, 4, 1000);
    expect(rate).toBeCloseTo(4, 1);
    expect(smoothed(7, 100, 0)).toBe(7);
  });
});

describe('the last 15 minutes', () => {
  const at = Math.ceil(AT_MS / STEP_MS) * STEP_MS;

  test('stand in steps of 5 s: flows a second, and the states found last', () => {
    const history = new History();
    for (let s = 0; s < 5; s += 1)
      expect(history.add({ atMs: at + s * 1000, flows: [2, 1], states: [s] })).toBeUndefined();
    expect(history.add({ atMs: at + 5000, flows: [9, 9], states: [9] })).toEqual([at, 2, 1, 4]);
    expect(history.points).toEqual([[at, 2, 1, 4]]);
  });

  test('have no step in which nobody looked, and none that is older', () => {
    const history = new History();
    history.add({ atMs: at, flows: [5], states: [] });
    expect(history.add({ atMs: at + 60_000, flows: [0], states: [] })).toEqual([at, 1]);
    for (let s = 65; s < 2000; s += 5) history.add({ atMs: at + s * 1000, flows: [0], states: [] });
    expect(history.points).toHaveLength(180);
    expect(history.points[0]?.[0]).toBe(at + (1995 - 900) * 1000);
  });
});

describe('counts at the door', () => {
  const slot = (admitted: number, refused: Record<string, number> = {}) => ({
    admitted,
    refused: Object.values(refused).reduce((sum, count) => sum + count, 0),
    refusedOf: new Map(Object.entries(refused)),
  });

  test('are compared slot by slot: what is new is told, and the minute adds up', () => {
    const minute = new DoorMinute();
    expect(minute.missingAfter(0)).toBe(12);
    expect(
      minute.add({ beganAtMs: 60_000, slotMs: 5000, slots: [slot(5, { a: 1 }), slot(7, { a: 2, b: 1 })] }),
    ).toEqual({ admitted: 0, refused: 0 });
    expect([minute.missingAfter(1000), minute.admittedPerSecond]).toEqual([2, 7 / 5]);
    expect([minute.missingAfter(5200), minute.missingAfter(3_600_000)]).toEqual([3, 12]);
    expect([minute.refusedOf('a'), minute.newlyRefusedOf('a'), minute.refusedOf('c')]).toEqual([3, 0, 0]);
    // The slot before has grown, too: another process was late.
    expect(
      minute.add({ beganAtMs: 60_000, slotMs: 5000, slots: [slot(6, { a: 4 }), slot(8, { a: 2, b: 2 })] }),
    ).toEqual({ admitted: 2, refused: 4 });
    expect([minute.refusedOf('a'), minute.newlyRefusedOf('a'), minute.newlyRefusedOf('b')]).toEqual([6, 3, 1]);
    expect(minute.add({ beganAtMs: 65_000, slotMs: 5000, slots: [slot(1), slot(6, { a: 4 })] })).toEqual({
      admitted: 1,
      refused: 0,
    });
    expect(minute.tenants).toEqual(new Set(['a', 'b']));
  });

  test('are forgotten after a minute', () => {
    const minute = new DoorMinute();
    minute.add({ beganAtMs: 0, slotMs: 5000, slots: [slot(1, { a: 1 })] });
    minute.add({ beganAtMs: 55_000, slotMs: 5000, slots: [slot(0), slot(0)] });
    expect(minute.refusedOf('a')).toBe(1);
    minute.add({ beganAtMs: 60_000, slotMs: 5000, slots: [slot(0), slot(0)] });
    expect([minute.refusedOf('a'), minute.tenants.size]).toEqual([0, 0]);
  });
});

test.each([
  { values: [], is: null },
  { values: [4], is: { p50: 4, p90: 4, p99: 4 } },
  { values: Array.from({ length: 100 }, (_, i) => 100 - i), is: { p50: 50, p90: 90, p99: 99 } },
])('percentiles of $values.length values are $is', ({ values, is }) => {
  expect(percentiles(values)).toEqual(is);
});

describe('a preview', () => {
  test('is when the last job starts, as the model starts them one by one, at either rate', () => {
    const cases = fc.record({
      rate: fc.double({ min: 0.5, max: 20, noNaN: true }),
      other: fc.double({ min: 0.5, max: 20, noNaN: true }),
      burst: fc.integer({ min: 1, max: 5 }),
      level: fc.double({ min: 0, max: 5, noNaN: true }),
      waiting: fc.integer({ min: 1, max: 40 }),
    });
    fc.assert(
      fc.property(cases, ({ rate, other, burst, level, waiting }) => {
        const paces = [rate, other].map((ratePerSecond) => paceOf({ ...DEFAULT_PROFILE, ratePerSecond, burst }));
        const [pace = paceOf(DEFAULT_PROFILE), wanted = pace] = paces;
        const stateAt = (emissionUs: number) => ({ tatUs: 1e9 + level * emissionUs, jobTatUs: 0 });
        const ends = previewUs({ state: stateAt(pace.emissionUs), pace, waiting, waitingCost: waiting }, wanted, 1e9);
        for (const [each, found] of [
          [pace, ends.endsAtUs],
          [wanted, ends.wouldEndAtUs],
        ] as const) {
          let [state, now] = [becomeBacklogged(stateAt(each.emissionUs), 1e9), 1e9];
          for (let job = 0; job < waiting; job += 1) {
            now = Math.max(now, startableAtUs(state, each));
            state = startJob(state, each, 1, now);
          }
          expect(levelAt(state, each, now)).toBeLessThanOrEqual(burst + 1e-6);
          // What is late by no more than the slack keeps its place.
          expect(Math.abs(found - now)).toBeLessThanOrEqual(each.slackUs + 1);
        }
      }),
    );
  });

  const backlog = { waiting: 240, waitingCost: 240, nextStartMs: 0, level: 0 };
  const later = (ms: number) => new Date(AT_MS + ms).toISOString();
  test.each([
    {
      title: 'twice the rate, half the time',
      of: { ...backlog, level: 1, profile: { ratePerSecond: 1 } },
      rate: 2,
      is: { waiting: 240, endsAt: later(240_000), wouldEndAt: later(120_000) },
    },
    { title: 'nothing waits', of: {}, rate: 2, is: { waiting: 0, endsAt: later(0), wouldEndAt: later(0) } },
    {
      title: 'without a limit, at once',
      of: { ...backlog, level: 1 },
      rate: Infinity,
      is: { waiting: 240, endsAt: later(240_000), wouldEndAt: later(0) },
    },
    {
      title: 'a rate of 0 never ends',
      of: { ...backlog, level: 1 },
      rate: 0,
      is: { waiting: 240, endsAt: later(240_000), wouldEndAt: null },
    },
    {
      title: 'what stands still goes on',
      of: { ...backlog, paused: true, profile: { ratePerSecond: 0 } },
      rate: 1,
      is: { waiting: 240, endsAt: null, wouldEndAt: expect.any(String) },
    },
    {
      title: 'what is paused by hand stays so',
      of: { ...backlog, paused: true },
      rate: 5,
      is: { waiting: 240, endsAt: null, wouldEndAt: null },
    },
    {
      title: 'beyond all dates',
      of: { ...backlog, waitingCost: 1e12 },
      rate: 1e-4,
      is: { waiting: 240, endsAt: expect.any(String), wouldEndAt: null },
    },
  ])('$title', ({ of, rate, is }) => {
    expect(previewOf(bucket(of), rate)).toEqual(is);
  });
});
