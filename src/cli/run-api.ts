import type { Config } from '../config/config.js';
import { environment } from '../config/environment.js';
import { loadConfig } from '../config/load-config.js';
import type { WorkerOrder } from '../config/worker-order.js';
import { type ReachedRedis, reachRedis } from '../redis/reach-redis.js';
import { createLogger, type Logger } from '../telemetry/logger.js';
import { startApi } from './api-server.js';
import { type FirstKeys, firstKeys } from './first-keys.js';
import { greeting } from './greeting.js';
import { migrateOwn } from './migrate.js';
import { UsageError } from './usage-error.js';
import { startWorkerProcess, type WorkerProcess } from './worker-process.js';

/** What was asked for on the command line. */
export interface RunOptions {
  readonly load: WorkerOrder['load'];
  readonly allowDownload: boolean;
  /** One machine-readable line when ready, instead of the greeting. */
  readonly json: boolean;
  /** Slots and types of the workers to bring up beside the API; none when absent. */
  readonly workers?: Pick<WorkerOrder, 'types' | 'concurrency' | 'healthListen'>;
}

/** Runs the API, and workers when asked to, until a signal. Resolves with the exit code. */
export async function runApi(options: RunOptions): Promise<number> {
  const env = environment();
  const log = createLogger({ isTerminal: process.stderr.isTTY === true && !env.ci });
  const config = await loadConfig({ env: env.variables, cwd: process.cwd(), ...options.load });
  const keys = await keysFor(config);
  const redis = await reachRedis({
    address: config.redis,
    dataDir: config.dataDir,
    durability: config.durability,
    allowDownload: options.allowDownload,
    path: env.path,
    cacheHome: env.cacheHome ?? (env.home && `${env.home}/.cache`),
    log: (rung, detail) => log.info({ rung, ...detail }, 'redis'),
  });
  const leave = untilAskedToLeave();
  const startOver = async (reached: ReachedRedis) => {
    // A Redis that is Headgate's own, under one command that runs all of it: there is nobody else to say so.
    if (options.workers !== undefined && config.redis.kind === 'embedded') await migrateOwn(config, reached, log);
    return startApi(config, keys, reached, log);
  };
  const api = await startOver(redis).catch(async (error: unknown) => {
    await redis.release();
    throw error;
  });
  const worker = wantsWorker(options, config) ? startWorkerProcess({ ...options, ...options.workers }) : undefined;
  // Without Redis the worker is not ready either; what is there is said all the same.
  const refused = api.refused.then((error) => {
    log.error(error.message);
    return 2;
  });
  const early = await Promise.race([worker?.ready, worker?.ended, leave, refused]);
  if (typeof early !== 'number') announce(api.url, keys, config, options.json);
  const code = typeof early === 'number' ? early : await Promise.race([leave, refused, worker?.ended ?? leave]);
  return shutDown(code, { api, worker, redis, log });
}

async function shutDown(
  code: number | null | undefined,
  parts: { api: { close(): Promise<void> }; worker: WorkerProcess | undefined; redis: ReachedRedis; log: Logger },
): Promise<number> {
  const { api, worker, redis, log } = parts;
  worker?.stop();
  process.on('SIGTERM', () => worker?.stop());
  process.on('SIGINT', () => worker?.stop());
  await api.close();
  const workerCode = await worker?.ended;
  await redis.release();
  log.info('stopped');
  return code ?? workerCode ?? 0;
}

async function keysFor(config: Config): Promise<FirstKeys> {
  const wanted = {
    admin: config.admin.keys.length === 0,
    demo: ![...config.tenants.values()].some(({ keys }) => keys.length > 0),
  };
  const { host } = config.listen;
  if ((wanted.admin || wanted.demo) && !isLoopback(host)) {
    throw new UsageError(
      `listen: ${host} can be reached from other machines, and keys made by Headgate serve loopback only; ` +
        `state ${wanted.admin ? 'admin.keys' : 'a key for at least one tenant'} in the configuration`,
    );
  }
  return firstKeys(config.dataDir, wanted);
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\./.test(host);
}

function announce(url: string, keys: FirstKeys, config: Config, json: boolean): void {
  const { adminKey, demoKey } = keys;
  if (json) process.stdout.write(`${JSON.stringify({ ready: true, url, adminKey, demoKey })}\n`);
  else process.stdout.write(greeting(url, keys, { type: firstOf(config.types), policy: firstOf(config.policies) }));
}

/** Policies alone have no work. Types that were asked for by name and are not there are the worker's to complain of. */
function wantsWorker(
  options: RunOptions,
  { types }: Config,
): options is RunOptions & Required<Pick<RunOptions, 'workers'>> {
  const { workers } = options;
  return (
    workers !== undefined &&
    (types.size > 0 || workers.types !== undefined || Object.keys(workers.concurrency).length > 0)
  );
}

function firstOf(named: ReadonlyMap<string, unknown>): string | undefined {
  return [...named.keys()][0];
}

function untilAskedToLeave(): Promise<null> {
  return new Promise((resolve) => {
    process.once('SIGTERM', () => resolve(null));
    process.once('SIGINT', () => resolve(null));
  });
}
