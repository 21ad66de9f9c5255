/**
 * The configuration under which a stored form is recorded, and under which it is read again: the handler apart, and how soon
 * jobs of a dead worker are looked for.
 */
export const WORLD = {
  redis: 'embedded',
  lockDuration: '2s',
  tiers: { only: { rate: 'unlimited', depth: 1000 } },
  defaultTier: 'only',
  tenants: {
    keyed: { key: 'a-key-so-that-none-is-made' },
    paced: { rate: '4/s' },
    costly: { rate: '10/s', burst: 3, weight: 2 },
    crowd: { concurrency: 2, weight: 4 },
  },
} as const;

/** The types: one that shapes and has a capacity, one whose jobs pay at the door. */
export const TYPES = {
  page: {
    cost: { request: { min: 1, max: 10 }, default: 1 },
    capacity: { concurrency: 6 },
    attempts: 1,
    keepResults: { age: '365d', count: 1000 },
  },
  gate: { mode: 'police', keepResults: { age: '365d', count: 1000 } },
} as const;

/** A job that was handed in while a form was recorded, and how it stood at the end. */
export interface RecordedJob {
  readonly id: string;
  readonly type: string;
  readonly tenant: string;
  readonly priority: number;
  readonly delayMs: number;
  readonly cost: number;
  readonly state: string;
  readonly idempotencyKey?: string;
}

/** What a build has left in Redis. */
export interface RecordedForm {
  /** Of the build, and of the Redis. */
  readonly commit: string;
  readonly redis: string;
  readonly format: string;
  readonly jobs: readonly RecordedJob[];
  /** A key of `keyed` that was made at run time. */
  readonly tenantKey: string;
  /** Every key: milliseconds that it has left (-1: for ever), and its value as DUMP gives it, in base64. */
  readonly keys: Readonly<Record<string, readonly [ttlMs: number, dump: string]>>;
  /** The texts that the build loaded into Redis for its jobs, compressed by gzip, in base64. */
  readonly libraries: readonly string[];
}
