import type { ServerResponse } from 'node:http';
import type { JobState, JobView } from '../model/verdict.js';
import { RedisUnavailable } from '../redis/outage.js';
import type { JobFeed } from '../shaping/job-feed.js';
import type { Shaping } from '../shaping/shaping.js';
import type { Closing } from './closing.js';

/** What waiting came to. */
export type Waited =
  | { readonly kind: 'ended'; readonly job: JobView }
  /** Time was up or the server closes; the job as it is now. */
  | { readonly kind: 'goes on'; readonly job: JobView }
  /** The same, and Redis does not say how the job is. */
  | { readonly kind: 'unknown' }
  /** The caller did. There is nobody to answer. */
  | { readonly kind: 'left' }
  /** It has ended, and nothing is kept of it any more. */
  | { readonly kind: 'gone' };

interface WaitParts {
  readonly shaping: Pick<Shaping, 'job'>;
  readonly feed: JobFeed;
  readonly closing: Closing;
}

const ENDINGS: ReadonlySet<string> = new Set(['completed', 'failed']);

/**
 * Waits for a job to end, at most `waitMs` and as long as a last look at the job takes; a caller who leaves ends it at
 * once. It costs a timer and an entry in a table: no connection, no subscription, and one read when the job has ended.
 *
 * @throws Error when a look at the job fails for another reason than Redis being away.
 */
export function waitForEnd(
  { shaping, feed, closing }: WaitParts,
  { tenant, id }: { readonly tenant: string; readonly id: string },
  { waitMs, caller }: { readonly waitMs: number; readonly caller: Pick<ServerResponse, 'once' | 'off' | 'destroyed'> },
): Promise<Waited> {
  return new Promise((resolve, reject) => {
    let isOver = false;
    const over = (tell: () => void): void => {
      if (isOver) return;
      isOver = true;
      clearTimeout(timer);
      unwatch();
      caller.off('close', left);
      stay();
      tell();
    };
    const look = async (): Promise<Waited> => {
      try {
        const job = await shaping.job(tenant, id);
        if (job === undefined) return { kind: 'gone' };
        return { kind: hasEnded(job.state) ? 'ended' : 'goes on', job };
      } catch (error) {
        if (!(error instanceof RedisUnavailable)) over(() => reject(error));
        return { kind: 'unknown' };
      }
    };
    const left = (): void => over(() => resolve({ kind: 'left' }));
    const timeIsUp = async (): Promise<void> => {
      const waited = await look();
      over(() => resolve(waited));
    };
    const timer = setTimeout(timeIsUp, waitMs);
    caller.once('close', left);
    const stay = closing.onBegin(timeIsUp);
    const unwatch = feed.watch(id, async (event) => {
      if (event !== undefined && !ENDINGS.has(event)) return;
      const waited = await look();
      if (waited.kind === 'ended' || waited.kind === 'gone') over(() => resolve(waited));
    });
    if (caller.destroyed) left();
    else if (closing.begun) void timeIsUp();
  });
}

/** True for a state that no job leaves, unless somebody makes it run again. */
export function hasEnded(state: JobState): boolean {
  return state !== 'waiting' && state !== 'delayed' && state !== 'active';
}
