import type { Contract, Tolerances } from '../referee/contract.js';

/** What every run of chaos is configured with, and what the referee holds it to. */

export const SHAPED = 'shaped';
export const POLICED = 'policed';
export const TENANTS = ['one', 'two', 'three', 'four', 'five', 'a:b {c}'] as const;

export const TERMS = { ratePerSecond: 5, burst: 3, depth: 30, concurrency: 2 } as const;
export const CAPS: Readonly<Record<string, number>> = { [SHAPED]: 5, [POLICED]: 3 };
/** Slots of each of the three workers. */
export const SLOTS = { [SHAPED]: 3, [POLICED]: 2 } as const;
export const WORKERS = 3;
export const APIS = 2;
export const LOCK_MS = 3000;
/** Half an emission interval of 200 ms. */
export const SLACK_MS = 100;

const { ratePerSecond, burst, depth, concurrency } = TERMS;

/** The configuration but for what the run itself knows: where Redis is. */
export function configOf(redisUrl: string): { types: Record<string, object>; [field: string]: unknown } {
  const type = (name: string, extra: object) => ({
    capacity: { concurrency: CAPS[name] },
    attempts: 3,
    backoff: { type: 'fixed', delay: '300ms' },
    keepResults: { age: '1h', count: 1_000_000 },
    ...extra,
  });
  return {
    redis: redisUrl,
    lockDuration: `${LOCK_MS}ms`,
    stalledInterval: '500ms',
    types: { [SHAPED]: type(SHAPED, {}), [POLICED]: type(POLICED, { mode: 'police' }) },
    tiers: { only: { rate: `${ratePerSecond}/s`, burst, depth, concurrency } },
    defaultTier: 'only',
  };
}

/** A policed bucket starts what it has admitted as slots come free: its rate holds at the door, not at the start. */
export const CONTRACT: Contract = {
  separateClocks: true,
  types: Object.entries(CAPS).map(([type, cap]) => ({ type, capacity: { concurrency: cap } })),
  buckets: TENANTS.map((tenant) => ({ type: POLICED, tenant, ratePerSecond: null, depth, concurrency })),
  otherwise: TERMS,
};

/** A worker that stands still between a dispatch and its handler's call makes the start that much later for the referee. */
export const TOLERANCES: Partial<Tolerances> = { arrivalMs: 8000, earlyMs: 500, lateMs: 2000 };
