/** A job on its way in: whose it is, and its number in the run. */
export interface OfferedJob {
  readonly tenant: string;
  readonly number: number;
  /** Units; only Headgate knows of any but 1. */
  readonly cost?: number;
}

/** What the door said about a start. Milliseconds; `high` and `low` bound an estimate. */
export interface Promised {
  readonly waitMs: number;
  readonly basis: string;
  readonly betweenMs: readonly [low: number, high: number] | null;
}

export interface ContenderOptions {
  readonly socketPath: string;
  /** All tenants that will ever send something: where each needs a Worker, it is started in time. */
  readonly tenants: readonly string[];
  /** Jobs that may run at once. */
  readonly slots: number;
  /** Units per second of each tenant; without, its jobs may go as fast as slots are free. */
  readonly ratePerSecond?: number;
  readonly weightOf?: (tenant: string) => number;
  /** Does the work. It is called when a job starts. */
  readonly run: (job: OfferedJob) => Promise<void>;
}

/** A queue with its workers, in this process, over an emptied Redis. */
export interface Contender {
  /** Jobs join in the order given. Resolves with what was promised to each, in that order; nothing where nothing is promised. */
  add(jobs: readonly OfferedJob[]): Promise<readonly Promised[]>;
  /** Starts the workers. */
  work(): Promise<void>;
  /** Leaves at once what still waits. */
  stop(): Promise<void>;
}

export type OpenContender = (options: ContenderOptions) => Promise<Contender>;
