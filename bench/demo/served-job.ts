/** One admitted job as the demo knows it. Instants are milliseconds since 1970 by the server's clock. */
export interface ServedJob {
  readonly tenant: string;
  /** Units that it takes from the bucket. */
  readonly cost: number;
  readonly admittedAtMs: number;
  readonly startedAtMs: number | null;
  readonly endedAtMs: number | null;
}

/** A stretch of time, its end not included. */
export interface Window {
  readonly fromMs: number;
  readonly untilMs: number;
}

/** Cost that started within the window. */
export function costStarted(jobs: readonly ServedJob[], window: Window): number {
  return jobs.reduce((sum, job) => (isWithin(job.startedAtMs, window) ? sum + job.cost : sum), 0);
}

function isWithin(atMs: number | null, { fromMs, untilMs }: Window): boolean {
  return atMs !== null && atMs >= fromMs && atMs < untilMs;
}

/** Milliseconds of running time within the window, over all jobs. A job without an end ran to the window's end. */
export function busyMs(jobs: readonly ServedJob[], { fromMs, untilMs }: Window): number {
  const within = (job: ServedJob): number => {
    if (job.startedAtMs === null) return 0;
    return Math.max(0, Math.min(job.endedAtMs ?? untilMs, untilMs) - Math.max(job.startedAtMs, fromMs));
  };
  return jobs.reduce((sum, job) => sum + within(job), 0);
}
