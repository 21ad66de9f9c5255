/** What becomes of a job above its bucket's rate: it waits for its turn, or is refused at the door. */
export type Mode = 'police' | 'shape';

/**
 * A bucket's contract. All quantities are plain numbers with their unit in the name; `Infinity` means unlimited.
 *
 * The profile is what a (type, tenant) pair is entitled to, after tier and overrides were merged.
 */
export interface Profile {
  /** Cost units per second that may leave. `Infinity`: fair sharing alone. `0`: paused. */
  readonly ratePerSecond: number;
  /** Cost units that may leave back to back. 1 spaces every start evenly. At least 1. */
  readonly burst: number;
  /** A second limit in jobs per second, evenly spaced; `Infinity` when there is none. */
  readonly jobRatePerSecond: number;
  /** Jobs that may wait, delayed ones included. */
  readonly depth: number;
  /** Bytes of payload that may wait, delayed jobs included. */
  readonly maxBytes: number;
  /** Longest wait that is still admitted, in milliseconds. */
  readonly maxWaitMs: number;
  /** Share of scarce workers; never changes the rate. */
  readonly weight: number;
  /** Jobs of this bucket that may run at once. */
  readonly concurrency: number;
  /** `police`: charged at the door, where level + cost must not be above the burst. `shape`: charged at the start. */
  readonly mode: Mode;
}

/** The limits of a job type as a whole, over all tenants. `Infinity` means unlimited. */
export interface Capacity {
  readonly ratePerSecond: number;
  readonly burst: number;
  readonly concurrency: number;
}

/** The profile of a tenant about whom nothing was said: a modest, evenly spaced share. */
export const DEFAULT_PROFILE: Profile = {
  ratePerSecond: 1,
  burst: 1,
  jobRatePerSecond: Infinity,
  depth: 1000,
  maxBytes: 64 * 1024 * 1024,
  maxWaitMs: Infinity,
  weight: 1,
  concurrency: Infinity,
  mode: 'shape',
};

/** A capacity about which nothing was said: no limit but the workers themselves. */
export const DEFAULT_CAPACITY: Capacity = { ratePerSecond: Infinity, burst: 1, concurrency: Infinity };

/** Whether a type has a limit of its own, a pause included. */
export function hasLimit({ ratePerSecond, concurrency }: Capacity): boolean {
  return ratePerSecond < Infinity || concurrency < Infinity;
}

/** Microseconds between two units at `ratePerSecond` (its emission interval); 0 when unlimited. */
export function emissionUs(ratePerSecond: number): number {
  return ratePerSecond === Infinity ? 0 : 1e6 / ratePerSecond;
}

const MIN_SLACK_US = 25_000;
const MAX_SLACK_US = 250_000;

/**
 * Lateness within which a bucket keeps its place in the ideal schedule: half an emission interval, at least 25 ms and
 * at most 250 ms, unless the type states its own.
 */
export function slackUs(intervalUs: number, statedUs?: number): number {
  return statedUs ?? Math.min(MAX_SLACK_US, Math.max(MIN_SLACK_US, intervalUs / 2));
}
