import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DEFAULT_TOLERANCES } from '../contract.js';
import { openCase } from '../open-case.js';
import type { Trace } from '../trace.js';
import { judgeOrder } from './order.js';

const CONTRACT = { types: [{ type: 'ocr' }], buckets: [{ type: 'ocr', tenant: 'acme' }] };
const { arrivalMs } = DEFAULT_TOLERANCES;

interface Life {
  readonly sentAt: number;
  readonly answerMs: number;
  readonly startMs: number;
}

const lives = fc.array(
  fc.record({
    sentAt: fc.integer({ min: 0, max: 500 }),
    answerMs: fc.integer({ min: 0, max: 60 }),
    startMs: fc.integer({ min: 60, max: 300 }),
  }),
  { maxLength: 25 },
);

const traceOf = (all: readonly Life[]): Trace =>
  all.flatMap(({ sentAt, answerMs, startMs }, index) => {
    const who = { type: 'ocr', tenant: 'acme', cost: 1 };
    const times = { sentAt, answeredAt: sentAt + answerMs };
    return [
      { kind: 'admission' as const, ...who, ...times, priority: 4, delayMs: 0, status: 202, body: { id: `j${index}` } },
      { kind: 'start' as const, ...who, at: sentAt + startMs, run: index, job: `j${index}`, attempt: 1 },
    ];
  });

describe('the judge of order', () => {
  it('names exactly the jobs that one admitted surely later surely overtook', () => {
    fc.assert(
      fc.property(lives, (all) => {
        const overtaken = all.filter(({ sentAt, answerMs, startMs }) =>
          all.some(
            (other) => other.sentAt > sentAt + answerMs && other.sentAt + other.startMs < sentAt + startMs - arrivalMs,
          ),
        );
        const { violations } = judgeOrder(openCase(traceOf(all), CONTRACT, DEFAULT_TOLERANCES));
        expect(violations).toHaveLength(overtaken.length);
      }),
    );
  });

  it.each([
    ['under the same key counts from the first that may have brought it', { key: 'once' }, 0],
    ['that is another counts from its own', { key: 'other' }, 1],
    ['without a key counts from its own', {}, 1],
  ])('a request without an answer, and an answered one %s', (_, repeated, violations) => {
    const who = { type: 'ocr', tenant: 'acme', cost: 1, priority: 4, delayMs: 0 };
    const admission = { kind: 'admission' as const, ...who };
    const start = { kind: 'start' as const, ...who, attempt: 1 };
    const trace: Trace = [
      { ...admission, key: 'once', sentAt: 0, answeredAt: 50, status: 503, body: { code: 'redis_unavailable' } },
      { ...admission, sentAt: 100, answeredAt: 110, status: 202, body: { id: 'between' } },
      { ...admission, ...repeated, sentAt: 200, answeredAt: 210, status: 202, body: { id: 'keyed' } },
      { ...start, at: 1000, run: 1, job: 'keyed' },
      { ...start, at: 2000, run: 2, job: 'between' },
    ];
    expect(judgeOrder(openCase(trace, CONTRACT, DEFAULT_TOLERANCES)).violations).toHaveLength(violations);
  });

  it.each([
    ['while it waited', { from: 150, to: 900 }, { judged: 1, excused: 1 }, 0],
    ['before it came', { from: 0, to: 90 }, { judged: 2, excused: 0 }, 1],
    ['after it had started', { from: 2001, to: 3000 }, { judged: 2, excused: 0 }, 1],
  ])('excuses a job that was overtaken only where something was broken %s', (_, bounds, counts, violations) => {
    const who = { type: 'ocr', tenant: 'acme', cost: 1 };
    const admission = { kind: 'admission' as const, ...who, priority: 4, delayMs: 0, status: 202 };
    const start = { kind: 'start' as const, ...who, attempt: 1 };
    const trace: Trace = [
      { kind: 'outage', ...bounds, note: 'cut' },
      { ...admission, sentAt: 100, answeredAt: 110, body: { id: 'first' } },
      { ...admission, sentAt: 120, answeredAt: 130, body: { id: 'second' } },
      { ...start, at: 1000, run: 1, job: 'second' },
      { ...start, at: 2000, run: 2, job: 'first' },
    ];
    const judgement = judgeOrder(openCase(trace, CONTRACT, DEFAULT_TOLERANCES));
    expect(judgement).toMatchObject(counts);
    expect(judgement.violations).toHaveLength(violations);
  });
});
