import fc from 'fast-check';
import { expect, test } from 'vitest';
import { problemHeaders, retryAfterSeconds, roomHeaders } from '../../src/http/answer-headers.js';

/** Redis counts in microseconds, up to some three hundred years here. */
const microseconds = fc.integer({ min: 0, max: 1e16 });

test('who obeys Retry-After is never early, and less than a second late', () => {
  fc.assert(
    fc.property(microseconds, (us) => {
      const waitMs = us / 1000;
      const seconds = retryAfterSeconds(waitMs);
      expect(Number.isInteger(seconds)).toBe(true);
      expect(seconds * 1000).toBeGreaterThanOrEqual(waitMs);
      expect((seconds - 1) * 1000).toBeLessThan(waitMs);
    }),
    { examples: [[0], [1], [999_999], [1_000_000], [1_000_001]] },
  );
});

test('nobody is told to come back where nobody knows when', () => {
  expect(problemHeaders({ code: 'bucket_full', detail: '', retryAfterMs: null })).toEqual({});
});

test.each([
  [50, 12, undefined, '"depth";q=50', '"depth";r=12'],
  [50, 0, 1500, '"depth";q=50', '"depth";r=0;t=2'],
  [50, 0, null, '"depth";q=50', '"depth";r=0'],
  [50, 3, 1500, '"depth";q=50', '"depth";r=3'],
])('room of %d with %d free is written in structured fields', (depth, free, retryAfterMs, policy, limit) => {
  expect(roomHeaders(depth, free, retryAfterMs)).toMatchObject({ 'ratelimit-policy': policy, ratelimit: limit });
});

test.each([
  [Infinity, Infinity],
  [50, NaN],
  [50.5, 1],
  [50, -1],
  [1e16, 1],
])('room of %d with %d free is not written: structured fields have no such number', (depth, free) => {
  expect(roomHeaders(depth, free)).toEqual({});
});
