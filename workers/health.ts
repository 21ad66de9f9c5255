import type { RedisLink } from '../src/redis/connection.js';

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
const DEADLINE_MS = 2000;
/** Twice the longest that a runner with a free slot goes without asking. */
const SILENCE_MS = 10_000;

/**
 * Whether a worker does its work: RedisLink answers now, whatever the socket looks like, and every type with a free slot was
 * answered, within the last 10 s, that there is a job or that nothing may start. So a type that is paused or held by its
 * upstream is ready, and one that has stopped asking is not.
 */
export async function workerReport(
  redis: Pick<RedisLink, 'ping'>,
  runners: readonly TypeServed[],
): Promise<WorkerReport> {
  const answers = await redisAnswers(redis);
  const stuck = runners.filter(({ silentMs }) => silentMs > SILENCE_MS);
  const types = stuck.map(({ source, silentMs }) => [
    source.type,
    `a slot is free and nothing was heard of jobs for ${Math.round(silentMs / 1000)} s`,
  ]);
  return {
    ready: answers && stuck.length === 0,
    checks: { redis: answers ? 'answers' : 'does not answer', ...Object.fromEntries(types) },
  };
}

/** Whether Redis answers now, whatever the socket looks like. Resolves within 2 s. */
export async function redisAnswers(redis: Pick<RedisLink, 'ping'>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(resolve, DEADLINE_MS, false);
  });
  const answered = redis.ping().then(
    () => true,
    () => false,
  );
  return Promise.race([answered, late]).finally(() => clearTimeout(timer));
}
