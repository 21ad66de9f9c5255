import { closeConnection, openConnection, type RedisLink } from '../redis/connection.js';
import { isCluster } from '../redis/masters.js';
import type { ClusterTarget, RedisTarget } from '../redis/redis-target.js';
import { FEED_DEADLINE_MS, type JobFeed, RedisJobFeed } from '../shaping/job-feed.js';
import type { Logger } from '../telemetry/logger.js';

/** What happens to jobs that somebody waits for. */
export interface ApiEvents {
  readonly feed: JobFeed;
  /** To be closed before the connection for commands. */
  close(): Promise<void>;
}

/** Where reads are held open they have a connection of their own. */
export function openEvents(commands: RedisLink, target: RedisTarget | ClusterTarget, log: Logger): ApiEvents {
  const reads = isCluster(commands)
    ? commands
    : openConnection(target, { name: 'api-events', deadlineMs: FEED_DEADLINE_MS });
  const feed = new RedisJobFeed(reads, commands, (error) => log.error({ err: error }, 'events cannot be read'));
  return {
    feed,
    close: async () => {
      if (reads !== commands) closeConnection(reads);
      await feed.close();
    },
  };
}
