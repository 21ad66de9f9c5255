import { hostname } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import type { Config } from '../src/config/config.js';
import { DELIVERY_TYPE } from '../src/config/delivery-type.js';
import { environment } from '../src/config/environment.js';
import { LiveConfig } from '../src/config/live-config.js';
import { loadConfig } from '../src/config/load-config.js';
import type { WorkerOrder } from '../src/config/worker-order.js';
import { closeConnection, openConnection, type RedisLink, untilTried } from '../src/redis/connection.js';
import { allAnswer, pingServers } from '../src/redis/masters.js';
import { EvictingRedis, MemoryWatch } from '../src/redis/memory-watch.js';
import { isPassing } from '../src/redis/outage.js';
import { reachRedis } from '../src/redis/reach-redis.js';
import { watchScripts } from '../src/redis/script.js';
import { Subscriber } from '../src/redis/subscriber.js';
import { applyCapacities } from '../src/shaping/apply-changes.js';
import { deliverySettings } from '../src/shaping/delivery-settings.js';
import { LiveSettings } from '../src/shaping/live-settings.js';
import { DROPPED, Outbox } from '../src/shaping/outbox.js';
import { OverrideFollower } from '../src/shaping/override-follower.js';
import { OverrideStore } from '../src/shaping/override-store.js';
import { RedisShaping } from '../src/shaping/redis-shaping.js';
import { OtherData, refuseOtherData } from '../src/shaping/stored-data.js';
import { createLogger } from '../src/telemetry/logger.js';
import { PROBE_MS, workerReport } from './health.js';
import { startHealthServer } from './health-server.js';
import { loadTypes } from './load-types.js';
import { logRuns } from './log-runs.js';
import { makeRunner } from './make-runner.js';
import { Pool } from './pool.js';
import { serveDeliveries } from './webhooks/serve-deliveries.js';
import { WorkerMetrics } from './worker-metrics.js';

/** How long a command may go unanswered; a settle that meets it is repeated. */
const DEADLINE_MS = 5000;
const MAX_STALLED = 1;
/** Of a delivery, which never is what made its worker die. */
const DELIVERY_STALLS = 1000;
/** How long handlers may take to give back what they opened. */
const CLOSE_WITHIN_MS = 5000;

/** The worker process: one pool over the types it serves, until a signal or the end of the process that started it. */
async function main(): Promise<void> {
  const args: WorkerOrder = JSON.parse(process.argv[2] ?? '{}');
  const env = environment();
  const log = createLogger({ isTerminal: process.stderr.isTTY === true && !env.ci });
  const config = await loadConfig({ env: env.variables, cwd: process.cwd(), ...args.load });
  const loaded = await loadTypes(config, args);
  for (const { config: type, fault } of loaded) {
    if (fault) log.error({ type: type.name, reason: fault.message }, 'a handler cannot be used: its jobs fail');
  }

  const redis = await reachRedis({
    address: config.redis,
    dataDir: config.dataDir,
    durability: config.durability,
    allowDownload: args.allowDownload,
    path: env.path,
    cacheHome: env.cacheHome ?? (env.home && `${env.home}/.cache`),
    log: (rung, detail) => log.debug({ rung, ...detail }, 'redis'),
  });
  const onState = (state: 'up' | 'down', detail: string): void => {
    if (state === 'up') log.info('redis is there');
    else log.warn({ detail }, 'redis is away; trying again');
  };
  const commands = openConnection(redis.target, { name: 'worker', deadlineMs: DEADLINE_MS, onState });
  const messages = openConnection(redis.target, { name: 'worker-wake', deadlineMs: DEADLINE_MS });
  await refuseEviction(commands, config);
  const live = new LiveConfig(config);
  const settings = deliverySettings(new LiveSettings(live), live.view);
  const types = [...loaded, ...serveDeliveries(live, args.types)];
  const subscriber = new Subscriber(messages);
  const overrides = new OverrideFollower(new OverrideStore(commands), live, subscriber, {
    onChange: (subjects) =>
      applyCapacities(
        { redis: commands, live, settings },
        subjects.filter(({ name }) => types.some(({ config: type }) => type.name === name)),
      ),
    onError: (error) => log.error({ err: error }, 'a change could not be applied'),
  });
  overrides.start();
  const worker = `${hostname()}:${process.pid}`;
  const runners = types.map((type) =>
    makeRunner(type, commands, settings, { worker, lockMs: config.lockDurationMs, log }),
  );
  const pool = new Pool(commands, subscriber, runners, {
    lockMs: config.lockDurationMs,
    stalledIntervalMs: config.stalledIntervalMs,
    maxStalled: MAX_STALLED,
    maxStalledOf: { [DELIVERY_TYPE]: DELIVERY_STALLS },
    beforeWork: async () => {
      await overrides.reload();
    },
    outbox: new Outbox(commands, settings.shards, new RedisShaping(commands, settings), (dropped) =>
      log.warn(dropped, DROPPED),
    ),
  });
  logRuns(pool, log);
  // Of a Redis that was away at start it shows later.
  const refused = new Promise<Error>((resolve) =>
    pool.on('error', (error) => error instanceof OtherData && resolve(error)),
  );
  const { tenants } = config.metrics;
  const answering = () => pingServers(commands, PROBE_MS);
  const metrics = new WorkerMetrics({ pool, runners, tenants, redisAnswers: async () => allAnswer(await answering()) });
  watchScripts(commands, metrics.watchScript);
  const health =
    args.healthListen &&
    (await startHealthServer(args.healthListen, async () => workerReport(await answering(), runners), metrics));
  await refuseOtherData(
    commands,
    types.map(({ config: { name } }) => name),
    settings.shards.count,
  ).catch((error: unknown) => {
    if (!isPassing(error)) throw error;
  });
  await pool.start();
  const slots = Object.fromEntries(loaded.map(({ config: { name }, slots }) => [name, slots]));
  log.info(
    { slots, ...(health && { healthPort: health.port }) },
    loaded.length > 0 || args.types !== undefined ? 'worker is ready' : 'worker has no type to serve',
  );
  process.send?.({ ready: true });

  const fault = await Promise.race([refused, untilAskedToLeave(log.warn.bind(log))]);
  if (fault) throw fault;
  log.info({ running: pool.running }, 'worker takes nothing more');
  await pool.stop(config.shutdownGraceMs);
  await overrides.stop();
  await Promise.race([Promise.all(runners.map((runner) => runner.close())), delay(CLOSE_WITHIN_MS)]);
  await health?.close();
  closeConnection(commands);
  closeConnection(messages);
  await redis.release();
}

/** A Redis that is not there yet is not waited for: the API looks at it whenever it is. */
async function refuseEviction(redis: RedisLink, { memory }: Config): Promise<void> {
  await untilTried(redis, DEADLINE_MS);
  const state = await new MemoryWatch(redis, memory).look();
  if (state.kind === 'evicts') throw new EvictingRedis(state.policy);
}

/** Resolves at the first signal, or when the parent is gone; a second signal leaves at once. */
function untilAskedToLeave(warn: (message: string) => void): Promise<void> {
  return new Promise((resolve) => {
    let asked = false;
    const onSignal = (): void => {
      if (asked) {
        warn('leaving now; what runs is taken up by others');
        process.exit(1);
      }
      asked = true;
      resolve();
    };
    process.on('SIGTERM', onSignal);
    process.on('SIGINT', onSignal);
    process.once('disconnect', () => {
      if (!asked) onSignal();
    });
  });
}

try {
  await main();
  process.exit(0);
} catch (error) {
  process.stderr.write(`headgate: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(2);
}
