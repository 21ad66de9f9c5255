import type { JobView } from '../model/verdict.js';
import { RedisUnavailable } from '../redis/outage.js';
import type { Shaping } from '../shaping/shaping.js';
import type { Bell } from './bell.js';
import { eventText, HEARTBEAT, outputText, retryText } from './event-text.js';
import { jobResource } from './job-answer.js';
import { JobChanges } from './job-changes.js';
import { hasEnded } from './wait-for-end.js';

const RETRY_MS = 2000;
/** Nobody tells that a promised start has moved: while a job waits it is looked at, the more often the sooner it starts. */
const LOOK_MS = { least: 1000, most: 10_000 } as const;
const CHUNKS = 100;

/** The id of the last message: who comes back with it has heard everything. */
export const END_ID = 'end';

/** What a stream of one job's events stands on. */
export interface FollowedJob {
  readonly shaping: Pick<Shaping, 'job' | 'output'>;
  /** As it was just now. */
  readonly job: JobView;
  /** The output up to this chunk is known; '' for none. */
  readonly after: string;
  readonly bell: Bell;
  /** The longest silence, in milliseconds. */
  readonly heartbeatMs: number;
}

/**
 * All that happens to a job from now on, as the text of an event stream: its state now, what is new whenever somebody rings,
 * its output from where the caller left off, and its end. Redis being away is waited out in silence. It is drawn from: a
 * client that reads slowly is told less often, and later states stand for those between.
 */
export async function* jobEvents({
  shaping,
  job: first,
  after,
  bell,
  heartbeatMs,
}: FollowedJob): AsyncGenerator<string> {
  const { tenant, id } = first;
  const changes = new JobChanges();
  let job: JobView | undefined = first;
  let position = after;
  let [look, output] = [false, true];
  yield retryText(RETRY_MS);
  for (;;) {
    try {
      if (look) job = await shaping.job(tenant, id);
      look = false;
      if (job === undefined) return yield eventText('end', { id, state: null }, END_ID);
      if (!hasEnded(job.state)) yield* changes.since(job);
      for (let read = output || hasEnded(job.state); read; ) {
        const chunks = await shaping.output(tenant, id, position, CHUNKS);
        for (const chunk of chunks) {
          position = chunk.id;
          yield outputText(chunk.id, Number.parseInt(chunk.id, 10), chunk.json);
        }
        read = chunks.length === CHUNKS;
      }
      output = false;
      if (hasEnded(job.state)) return yield eventText('end', jobResource(job), END_ID);
    } catch (error) {
      // The feed rings when Redis is back.
      if (!(error instanceof RedisUnavailable)) throw error;
    }
    const lookInMs = timeToLook(job);
    const rung = await bell.next(Math.min(heartbeatMs, lookInMs));
    if (rung.over) return;
    look ||= rung.look || lookInMs < heartbeatMs;
    output ||= rung.output;
    if (!rung.look && !rung.output) yield HEARTBEAT;
  }
}

function timeToLook(job: JobView | undefined): number {
  if (!job || job.promise === null) return Infinity;
  return Math.max(LOOK_MS.least, Math.min(LOOK_MS.most, job.promise.waitMs / 4));
}
