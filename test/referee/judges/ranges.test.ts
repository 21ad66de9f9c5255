import { describe, expect, it } from 'vitest';
import { DEFAULT_TOLERANCES } from '../contract.js';
import { openCase } from '../open-case.js';
import type { Trace } from '../trace.js';
import { judgeRanges } from './ranges.js';

const CONTRACT = { types: [{ type: 'ocr' }], buckets: [{ type: 'ocr', tenant: 'acme' }] };
const EPOCH = Date.UTC(2026, 0, 1);

interface Estimated {
  readonly startMs: number;
  readonly between?: readonly [number, number];
  readonly basis?: string;
}

/** Jobs that come 10 ms apart, promised to start 1,000 ms later, between 500 and 2,000 ms unless stated. */
function judged(all: readonly Estimated[], outages: Trace = []) {
  const jobs: Trace = all.flatMap(({ startMs, between = [500, 2000], basis = 'capacity' }, i) => {
    const who = { type: 'ocr', tenant: 'acme', cost: 1 };
    const sentAt = 10 * i;
    const at = (ms: number) => new Date(EPOCH + sentAt + ms).toISOString();
    const promise = { releaseAt: at(1000), waitMs: 1000, basis, releaseBetween: between.map(at) };
    const body = { id: `j${i}`, state: 'waiting', ...promise };
    return [
      { kind: 'admission', ...who, sentAt, answeredAt: sentAt + 1, priority: 4, delayMs: 0, status: 202, body },
      { kind: 'start', ...who, at: sentAt + startMs, run: i, job: `j${i}`, attempt: 1 },
    ];
  });
  return judgeRanges(openCase([...outages, ...jobs], CONTRACT, DEFAULT_TOLERANCES));
}

const mixed = (count: number, outside: number, startMs: number): Estimated[] =>
  Array.from({ length: count }, (_, i) => ({ startMs: i < outside ? startMs : 1400 }));

describe('the judge of estimated ranges', () => {
  it('accepts a thousand of which four in five hold, to the bounds and what a way takes', () => {
    expect(judged(mixed(1000, 200, 2100))).toMatchObject({ judged: 1000, violations: [] });
    expect(judged(mixed(1000, 1000, 2025)).violations).toEqual([]);
    expect(judged(mixed(1000, 1000, 500)).violations).toEqual([]);
  });

  it.each([
    { title: 'late', startMs: 2027 },
    { title: 'early', startMs: 499 },
  ])('rejects a thousand of which more than one in five starts too $title', ({ startMs }) => {
    const { violations } = judged(mixed(1000, 201, startMs));
    expect(violations).toMatchObject([
      { guarantee: 'G9', bucket: 'ocr', sentence: 'kept 799 of 1000 estimated ranges' },
    ]);
  });

  it('says nothing of few', () => {
    expect(judged(mixed(999, 999, 9000))).toMatchObject({ judged: 0, excused: 999, violations: [] });
  });

  it('says nothing of those over whose time something was broken on purpose, and judges the others', () => {
    const outage = { kind: 'outage', from: 500, to: 2500, note: 'cut' } as const;
    // Those that came until 2,500 ms.
    expect(judged(mixed(1251, 1251, 9000), [outage])).toMatchObject({ judged: 1000, excused: 251 });
    expect(judged(mixed(1251, 251, 9000), [outage]).violations).toEqual([]);
    expect(judged(mixed(1251, 452, 9000), [outage]).violations).toHaveLength(1);
  });

  it.each([
    { title: 'without its own releaseAt', job: { startMs: 1, between: [1200, 2000] as const } },
    { title: 'that ends before it begins', job: { startMs: 1, between: [2000, 500] as const } },
    { title: 'of what is no estimate', job: { startMs: 1, basis: 'rate' } },
  ])('rejects a range $title', ({ job }) => {
    expect(judged([job]).violations).toHaveLength(1);
  });
});
