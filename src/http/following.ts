import type { JobFeed } from '../shaping/job-feed.js';
import type { Closing } from './closing.js';
import type { HttpLimits } from './http-limits.js';
import { Seats } from './seats.js';

/** What routes stand on that answer late, because they follow a job. */
export interface Following {
  /** Who waits for the end of a job. */
  readonly waits: Seats;
  /** Who is told of all that happens to a job. */
  readonly streams: Seats;
  /** `undefined`: nobody can follow anything. */
  readonly feed: JobFeed | undefined;
  /** Whoever follows is answered when it begins. */
  readonly closing: Closing;
  /** Of streams. */
  readonly pace: Pick<HttpLimits, 'heartbeatMs' | 'stuckMs'>;
}

export function followingOver(feed: JobFeed | undefined, limits: HttpLimits, closing: Closing): Following {
  return { waits: new Seats(limits.waits), streams: new Seats(limits.streams), feed, closing, pace: limits };
}
