import type { Config } from '../config/config.js';
import { closeConnection, openConnection } from '../redis/connection.js';
import type { ClusterTarget, RedisTarget } from '../redis/redis-target.js';
import { ReplicatedScripts } from '../redis/replicated.js';
import { type RunScript, type ScriptWatcher, watchScripts } from '../redis/script.js';

/** How jobs are admitted that replicas have to hold before they are answered. */
export interface Admitting {
  readonly run: RunScript;
  watchScripts(watcher: ScriptWatcher): void;
  close(): void;
}

/** Of these the replicas may take the lesser part. */
const DEADLINE_MS = 2000;
const REPLICAS_MS = 1000;

/** Nothing where no replica is waited for. */
export function openAdmitting(
  { redis }: Pick<Config, 'redis'>,
  target: RedisTarget | ClusterTarget,
): Admitting | undefined {
  if (redis.kind === 'embedded' || redis.waitForReplicas === undefined) return undefined;
  const connection = openConnection(target, { name: 'api-admit', deadlineMs: DEADLINE_MS });
  const scripts = new ReplicatedScripts(connection, { replicas: redis.waitForReplicas, withinMs: REPLICAS_MS });
  return {
    run: (call) => scripts.run(call),
    watchScripts: (watcher) => watchScripts(connection, watcher),
    close: () => closeConnection(connection),
  };
}
