import type { Contract, Tolerances } from '../../referee/contract.js';
import type { BooksOf } from '../book-check.js';

/** What every failover run is configured with, and what the referee holds it to. */

export const PACED = 'paced';
/** It has a capacity, so that each of its starts needs a permit where there are shards. */
export const CAPPED = 'capped';
export const TYPES = [PACED, CAPPED] as const;
export const TENANTS = Array.from({ length: 12 }, (_, i) => `t${i}`);

const TERMS = { ratePerSecond: 8, burst: 5, depth: 400, concurrency: 6 } as const;
export const WORKERS = 2;
/** Of each worker: more than the tenants of one master can fill, whose runs cannot be settled while it is away. */
export const SLOTS = { [PACED]: 20, [CAPPED]: 20 } as const;
const CAP = 30;

const { ratePerSecond, burst, depth, concurrency } = TERMS;

export function configOf(redis: object, shards: number): { types: Record<string, object>; [field: string]: unknown } {
  const type = {
    attempts: 3,
    backoff: { type: 'fixed', delay: '300ms' },
    keepResults: { age: '1h', count: 1_000_000 },
  };
  return {
    redis,
    shards,
    lockDuration: '3s',
    stalledInterval: '500ms',
    types: { [PACED]: type, [CAPPED]: { ...type, capacity: { concurrency: CAP } } },
    tiers: { only: { rate: `${ratePerSecond}/s`, burst, depth, concurrency } },
    defaultTier: 'only',
  };
}

/** After a failover a type's capacity may be exceeded by what was lost, so it is not held against it. */
export const CONTRACT: Contract = {
  separateClocks: true,
  types: TYPES.map((type) => ({ type, slots: WORKERS * SLOTS[type], spread: true })),
  buckets: [],
  otherwise: TERMS,
};

export const TOLERANCES: Partial<Tolerances> = { arrivalMs: 8000, earlyMs: 500, lateMs: 2000 };

export const BOOKS: BooksOf = {
  types: TYPES,
  tenants: TENANTS,
  paced: { type: PACED, pace: { ratePerSecond, burst, slackMs: 1000 / ratePerSecond / 2 } },
};
