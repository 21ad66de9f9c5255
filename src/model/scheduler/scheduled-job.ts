import type { BucketState } from '../bucket.js';
import type { Guess } from '../service.js';
import type { JobState } from '../verdict.js';
import type { StartMarks } from './running-charge.js';

/** A job as it comes to the door. Instants in microseconds of the clock that the scheduler is told. */
export interface JobOffer {
  readonly id: string;
  /** 0 starts first, 9 last. */
  readonly priority: number;
  readonly cost: number;
  readonly bytes: number;
  /** Milliseconds until it joins what waits; 0 to join at once. */
  readonly delayMs: number;
  /** When it expires unless it has started. */
  readonly startByUs?: number;
}

/** A job that was admitted. */
export interface ScheduledJob {
  readonly id: string;
  readonly tenant: string;
  readonly priority: number;
  /** As it was last known. */
  cost: number;
  readonly bytes: number;
  state: JobState;
  /** Place among the jobs of its priority while it waits; 0 is the front, where jobs stand by id. */
  order: number;
  /** When a delayed job joins what waits, and where in its priority. */
  dueAtUs: number;
  joinsAt: 'front' | 'back';
  /** By virtual now; a job that has started does not expire. */
  startByUs: number | undefined;
  /** Of a job that paid at the door: its bucket right after that. It passes no rate gate, and no run of it is charged. */
  charged: BucketState | undefined;
  /** Of the job's last start. */
  marks: StartMarks | undefined;
  /** What was estimated of its start, and when; `undefined` where the promise was no estimate. */
  readonly guess: (Guess & { readonly atUs: number }) | undefined;
  /** Its last start. */
  startedAtUs: number | undefined;
  cancelRequested: boolean;
  stalls: number;
  /** The token whose settle this job last saw. */
  settledBy: string | undefined;
}
