import { join } from 'node:path';
import { keepEmbeddedRedis } from './embedded/keep-embedded-redis.js';
import {
  type ClusterTarget,
  type ConfiguredServers,
  describeTarget,
  type RedisTarget,
  targetOf,
} from './redis-target.js';
import { refuseUnusable } from './refuse-unusable.js';

/** How long a configured server may take to say what it is. */
const ANSWER_MS = 2000;

/** Which Redis to use, and what it takes to bring up the embedded one. */
export interface ReachOptions {
  readonly address: { readonly kind: 'embedded' } | ConfiguredServers;
  readonly dataDir: string;
  readonly durability: 'always' | 'everysec';
  /** Whether a server may be fetched from the distribution's packages when none is on PATH. */
  readonly allowDownload: boolean;
  readonly path: string | undefined;
  /** Folder that holds caches of this user, such as `~/.cache`. */
  readonly cacheHome: string | undefined;
  /** Told which rung was taken. */
  readonly log: (rung: string, detail: Record<string, unknown>) => void;
}

/** A Redis that can be connected to. */
export interface ReachedRedis {
  readonly target: RedisTarget | ClusterTarget;
  /** To be called once all connections of this process are closed: the last process over a data folder ends its server. */
  release(): Promise<void>;
}

/**
 * Finds the Redis to use: the configured one, else an embedded one (adopted, from PATH, or fetched). A configured server
 * that does not answer is not waited for. Throws UnusableRedis, NoRedisServer or EmbeddedRedisError, whose message is one
 * sentence for people.
 */
export async function reachRedis(options: ReachOptions): Promise<ReachedRedis> {
  const { address, log } = options;
  if (address.kind !== 'embedded') {
    const target = targetOf(address);
    log('configured', { server: describeTarget(target) });
    await refuseUnusable(target, ANSWER_MS);
    return { target, release: async () => undefined };
  }
  const embedded = await keepEmbeddedRedis({
    dataDir: options.dataDir,
    durability: options.durability,
    allowDownload: options.allowDownload,
    log,
    ...(options.path !== undefined && { path: options.path }),
    ...(options.cacheHome !== undefined && { cacheDir: join(options.cacheHome, 'headgate') }),
  });
  return {
    target: { socketPath: embedded.socketPath },
    release: async () => {
      await embedded.release();
    },
  };
}
