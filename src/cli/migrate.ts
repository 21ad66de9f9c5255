import type { Config } from '../config/config.js';
import { DELIVERY_TYPE } from '../config/delivery-type.js';
import { environment } from '../config/environment.js';
import { loadConfig } from '../config/load-config.js';
import type { WorkerOrder } from '../config/worker-order.js';
import { servingProcesses } from '../redis/connected.js';
import { closeConnection, openConnection, type RedisLink, untilTried } from '../redis/connection.js';
import { deniedCommand } from '../redis/missing-rights.js';
import { type ReachedRedis, reachRedis } from '../redis/reach-redis.js';
import { bringForward, type Migration, olderData, type Progress } from '../shaping/migration/bring-forward.js';
import { OtherData, refuseOtherData } from '../shaping/stored-data.js';
import type { Logger } from '../telemetry/logger.js';

const DEADLINE_MS = 5000;

export interface MigrateOptions {
  readonly load: WorkerOrder['load'];
  readonly allowDownload: boolean;
  /** Only say what would be done. */
  readonly isDryRun: boolean;
  readonly onProgress: (progress: Progress) => void;
}

/** What `headgate migrate` did, or would do. */
export interface MigrateOutcome extends Migration {
  /** Connections of processes that would have to end before. Empty unless it only looked. */
  readonly inTheWay: readonly string[];
}

/** Brings the data of the Redis that the configuration names forward to the form that this version reads. */
export async function migrate({ load, allowDownload, isDryRun, onProgress }: MigrateOptions): Promise<MigrateOutcome> {
  const env = environment();
  const config = await loadConfig({ env: env.variables, cwd: process.cwd(), ...load });
  const reached = await reachRedis({
    address: config.redis,
    dataDir: config.dataDir,
    durability: config.durability,
    allowDownload,
    path: env.path,
    cacheHome: env.cacheHome ?? (env.home && `${env.home}/.cache`),
    log: () => undefined,
  });
  try {
    return await withLink(reached, async (redis) => {
      if (!isDryRun) return { ...(await bringForward(redis, onProgress)), inTheWay: [] };
      const older = await olderData(redis);
      const connections = older.length === 0 ? [] : await servingProcesses(redis);
      const inTheWay = connections.map(({ name, address }) => `${name} (${address})`);
      return { older, closed: [], buckets: 0, runs: 0, inTheWay };
    });
  } catch (error) {
    const command = deniedCommand(error);
    if (command === undefined) throw error;
    throw new Error(`the user of Redis may not run ${command}, which \`headgate migrate\` needs (docs/redis.md)`, {
      cause: error,
    });
  } finally {
    await reached.release();
  }
}

/**
 * What `headgate start` does over a Redis of its own, which nobody has to be asked about: brings older data forward before anything
 * starts. Throws as {@link bringForward} does.
 */
export async function migrateOwn(config: Config, reached: ReachedRedis, log: Logger): Promise<void> {
  await withLink(reached, async (redis) => {
    const types = [...config.types.keys(), DELIVERY_TYPE];
    const isOlder = await refuseOtherData(redis, types, config.shards).then(
      () => false,
      (error: unknown) => error instanceof OtherData && error.isOlder,
    );
    if (!isOlder) return;
    const { buckets, runs } = await bringForward(redis);
    log.info({ buckets, runs }, 'data of an older version was brought forward');
  });
}

async function withLink<Result>(reached: ReachedRedis, act: (redis: RedisLink) => Promise<Result>): Promise<Result> {
  const redis = openConnection(reached.target, { name: 'migrate', deadlineMs: DEADLINE_MS });
  try {
    await untilTried(redis, DEADLINE_MS);
    return await act(redis);
  } finally {
    closeConnection(redis);
  }
}
