import { type Inspection, inspectRedis } from './inspect-redis.js';
import type { ClusterTarget, RedisTarget } from './redis-target.js';

/** What one of several servers says about itself. */
export type MasterInspection = Inspection & {
  /** HOST:PORT of a master of a cluster; absent for a single server. */
  readonly server?: string;
};

/**
 * Asks a Redis about itself, within so many milliseconds: of a cluster every master, since each has its own settings and users.
 * Where nothing answers, or the cluster cannot be used, there is one entry that says so.
 *
 * @param mayLoad See {@link inspectRedis}.
 */
export async function inspectMasters(
  target: RedisTarget | ClusterTarget,
  withinMs: number,
  mayLoad = false,
): Promise<readonly MasterInspection[]> {
  const first = await inspectRedis(target, withinMs, mayLoad);
  if ('fault' in first || !('cluster' in target)) return [first];
  return Promise.all(
    first.facts.masters.map(async (master) => ({
      server: `${master.host}:${master.port}`,
      ...(await inspectRedis({ ...target, cluster: [master] }, withinMs, mayLoad)),
    })),
  );
}
