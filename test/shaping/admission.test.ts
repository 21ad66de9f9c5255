import { describe, expect, test } from 'vitest';
import { admissionOf } from '../../src/shaping/admission.js';
import { msOf } from '../../src/shaping/ms-of.js';
import type { AdmitVerdict } from '../../src/shaping/scripts.js';

const NOW = 1_800_000_000_000;
const admitted: AdmitVerdict & { kind: 'admitted' } = {
  kind: 'admitted',
  id: 'a',
  state: 'waiting',
  position: 3,
  waitUs: 1_500_001,
  basis: 'rate',
  between: null,
};
const rejected = (parts: Partial<AdmitVerdict & { kind: 'rejected' }>): AdmitVerdict => ({
  kind: 'rejected',
  reason: 'bucket_full',
  limit: '',
  retryUs: null,
  waitUs: 0,
  ...parts,
});

describe('an admitted job', () => {
  test('is promised a start that is never too early', () => {
    expect(admissionOf(admitted, NOW, undefined)).toEqual({
      verdict: 'admitted',
      id: 'a',
      replayed: false,
      state: 'waiting',
      promise: { position: 3, releaseAtMs: NOW + 1501, waitMs: 1501, basis: 'rate', releaseBetweenMs: null },
    });
  });

  test('has the range of an estimate, rounded outwards', () => {
    const estimated = { ...admitted, basis: 'capacity', between: { earliestUs: 999, latestUs: 2_000_001 } } as const;
    expect(admissionOf(estimated, NOW, undefined)).toMatchObject({ promise: { releaseBetweenMs: [NOW, NOW + 2001] } });
  });

  test('has no position while it is delayed', () => {
    const delayed = { ...admitted, state: 'delayed', position: 0, basis: 'delay' } as const;
    expect(admissionOf(delayed, NOW, undefined)).toMatchObject({ promise: { position: null, basis: 'delay' } });
  });

  test('is promised no instant where the wait has no end', () => {
    const never = { ...admitted, waitUs: 9e15, basis: 'capacity' } as const;
    expect(admissionOf(never, NOW, undefined)).toMatchObject({ promise: { releaseAtMs: Infinity, waitMs: Infinity } });
  });
});

test('a replayed job that is gone has completed, as far as anybody knows', () => {
  const replay = admissionOf({ kind: 'replayed', id: 'a' }, NOW, undefined);
  expect(replay).toEqual({ verdict: 'admitted', id: 'a', replayed: true, state: 'completed', promise: null });
});

describe('a refusal', () => {
  test.each([
    { verdict: rejected({ limit: 'depth', retryUs: 1 }), told: { limit: 'depth', retryAfterMs: 1 } },
    { verdict: rejected({ limit: 'maxBytes', retryUs: 0 }), told: { limit: 'maxBytes', retryAfterMs: 0 } },
    { verdict: rejected({ limit: 'depth' }), told: { limit: 'depth', retryAfterMs: null } },
    {
      verdict: rejected({ reason: 'wait_too_long', retryUs: 1001, waitUs: 5000 }),
      told: { reason: 'wait_too_long', waitMs: 5, retryAfterMs: 2 },
    },
    {
      verdict: rejected({ reason: 'deadline_unreachable', waitUs: 2500 }),
      told: { reason: 'deadline_unreachable', earliestStartAtMs: NOW + 3 },
    },
    { verdict: rejected({ reason: 'rate_limited', retryUs: 1001 }), told: { reason: 'rate_limited', retryAfterMs: 2 } },
    { verdict: rejected({ reason: 'rate_limited' }), told: { reason: 'rate_limited', retryAfterMs: null } },
    { verdict: rejected({ reason: 'cost_exceeds_max', limit: '2.5' }), told: { reason: 'cost_exceeds_max', max: 2.5 } },
    { verdict: rejected({ reason: 'deadline_past' }), told: { reason: 'deadline_past' } },
    { verdict: rejected({ reason: 'idempotency_mismatch' }), told: { reason: 'idempotency_mismatch' } },
  ])('says what its caller can go by: $told', ({ verdict, told }) => {
    expect(admissionOf(verdict, NOW, undefined)).toEqual({ verdict: 'rejected', reason: 'bucket_full', ...told });
  });
});

test.each([
  [0, 0],
  [1, 1],
  [1000, 1],
  [1001, 2],
  [8.9e15, 8.9e12],
  [9e15, Infinity],
])('%d µs are %d ms', (us, ms) => expect(msOf(us)).toBe(ms));
