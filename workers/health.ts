import { type Answering, answeringText } from '../src/redis/masters.js';

/** What a readiness probe found of a worker process. */
export interface WorkerReport {
  readonly ready: boolean;
  /** One entry per thing that has to work, in words for people. */
  readonly checks: Readonly<Record<string, string>>;
}

/** What is asked of the runner of a type. */
interface TypeServed {
  readonly source: { readonly type: string };
  readonly silentMs: number;
}

/** Of a probe, which is not kept waiting for longer. */
export const PROBE_MS = 2000;
/** Twice the longest that a runner with a free slot goes without asking. */
const SILENCE_MS = 10_000;

/**
 * Whether a worker does its work: Redis answers now, whatever the socket looks like, of a cluster one master at least, and every
 * type with a free slot was answered, within the last 10 s, that there is a job or that nothing may start. So a type that is
 * paused or held by its upstream is ready, and one that has stopped asking is not.
 */
export function workerReport(answers: Answering, runners: readonly TypeServed[]): WorkerReport {
  const stuck = runners.filter(({ silentMs }) => silentMs > SILENCE_MS);
  const types = stuck.map(({ source, silentMs }) => [
    source.type,
    `a slot is free and nothing was heard of jobs for ${Math.round(silentMs / 1000)} s`,
  ]);
  return {
    ready: answers.answering > 0 && stuck.length === 0,
    checks: { redis: answeringText(answers), ...Object.fromEntries(types) },
  };
}
