import { closeConnection, openConnection, untilReady } from './connection.js';
import { existingRedisFolder } from './embedded/redis-folder.js';
import { reachableSocket } from './embedded/socket-alias.js';
import type { ClusterTarget, RedisTarget } from './redis-target.js';

/** What a Redis says about itself. */
export interface RedisFacts {
  readonly version: string;
  /** The text of `INFO memory`. */
  readonly memory: string;
  readonly appendOnly: boolean;
  readonly isCluster: boolean;
}

/** Asks a Redis about itself, within so many milliseconds; `away` says why it could not. */
export async function inspectRedis(
  target: RedisTarget | ClusterTarget,
  withinMs: number,
): Promise<{ readonly facts: RedisFacts } | { readonly away: string }> {
  let away = `no answer within ${withinMs} ms`;
  const redis = openConnection(target, {
    name: 'doctor',
    deadlineMs: withinMs,
    onState: (state, detail) => {
      if (state === 'down') away = detail;
    },
  });
  try {
    await untilReady(redis, AbortSignal.timeout(withinMs));
    const text = await redis.info();
    const field = (name: string): string | undefined => new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(text)?.[1];
    const facts = {
      version: field('valkey_version') ?? field('redis_version') ?? 'unknown',
      memory: text,
      appendOnly: field('aof_enabled') === '1',
      isCluster: field('cluster_enabled') === '1',
    };
    return { facts };
  } catch (error) {
    return { away: redis.status === 'ready' && error instanceof Error ? error.message : away };
  } finally {
    closeConnection(redis);
  }
}

/** Where the embedded Redis of a data folder would answer; undefined when there never was one. */
export async function embeddedTarget(dataDir: string): Promise<RedisTarget | undefined> {
  const folder = await existingRedisFolder(dataDir);
  return folder === undefined ? undefined : { socketPath: await reachableSocket(folder) };
}
