import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import type { Config, WorkerKey } from '../config/config.js';
import { LiveConfig } from '../config/live-config.js';
import { dashboard } from '../dashboard/dashboard.js';
import { ApiMetrics } from '../http/api-metrics.js';
import { buildApp } from '../http/app.js';
import { doorOf } from '../http/door.js';
import { connectionLimits } from '../http/http-limits.js';
import { createKeyring, hashKey, type KeyEntry } from '../http/keyring.js';
import type { ReadyReport } from '../http/ready-report.js';
import { routeTable } from '../policing/route-table.js';
import { closeConnection, openConnection, type RedisLink, untilTried } from '../redis/connection.js';
import { allAnswer, answeringText, pingServers } from '../redis/masters.js';
import { EvictingRedis, type MemoryState, MemoryWatch } from '../redis/memory-watch.js';
import { isPassing } from '../redis/outage.js';
import type { ReachedRedis } from '../redis/reach-redis.js';
import { watchScripts } from '../redis/script.js';
import { deliverySettings } from '../shaping/delivery-settings.js';
import { newJobId } from '../shaping/job-id.js';
import { LiveSettings } from '../shaping/live-settings.js';
import { RedisShaping } from '../shaping/redis-shaping.js';

import { type OtherData, refuseOtherData, storedTypes } from '../shaping/stored-data.js';
import type { Logger } from '../telemetry/logger.js';
import { openAdmitting } from './api-admitting.js';
import { openEvents } from './api-events.js';
import { watchForsakenTypes } from './api-forsaken-types.js';
import { openApiPolicing, outlivesRedis } from './api-policing.js';
import { openRemoteWork } from './api-remote-work.js';
import { DEMO_TENANT, type FirstKeys } from './first-keys.js';
import { followOverrides } from './live-overrides.js';

const { version } = createRequire(import.meta.url)('headgate/package.json');
/** How long Redis may take to answer a caller, in milliseconds. */
const DEADLINE_MS = 2000;

/** The API, listening. */
export interface ApiServer {
  readonly url: string;
  /** Resolves if what a Redis holds that was away at start is not such as the API can go on with. */
  readonly refused: Promise<OtherData>;
  close(): Promise<void>;
}

/** Puts the API together and lets it listen. Redis need not be there: until it is, the API says so. */
export async function startApi(config: Config, keys: FirstKeys, redis: ReachedRedis, log: Logger): Promise<ApiServer> {
  const live = new LiveConfig(config);
  const settings = deliverySettings(new LiveSettings(live), live.view);
  const commands = openConnection(redis.target, {
    name: 'api',
    deadlineMs: DEADLINE_MS,
    onState: (state, detail) => {
      if (state === 'up') log.info('redis is there');
      else log.warn({ detail }, 'redis is away; trying again');
    },
  });
  const memory = new MemoryWatch(commands, config.memory, (state) => logMemory(state, log));
  let refuse: (error: OtherData) => void = () => undefined;
  const refused = new Promise<OtherData>((resolve) => {
    refuse = resolve;
  });
  const admitting = openAdmitting(config, redis.target);
  const shaping = new RedisShaping(commands, settings, admitting?.run);
  const events = openEvents(commands, redis.target, log);
  const policing = openApiPolicing(config, redis.target, log);
  warnOfLoneAddress(config, log);
  const door = doorOf(live.view);
  const { tenants, open } = config.metrics;
  const metrics = new ApiMetrics({
    ...{ shaping, policing: policing.policing, tenants },
    typeNames: door.typeNames,
    remoteTypes: [...config.types.values()].filter(({ handler }) => handler === null).map(({ name }) => name),
  });
  watchScripts(commands, metrics.watchScript);
  admitting?.watchScripts(metrics.watchScript);
  policing.watchScripts(metrics.watchScript);
  const overrides = followOverrides({
    ...{ live, settings, commands, target: redis.target, log, onOtherData: refuse },
    onCancelled: (bucket, jobs) => metrics.runs.cancelled(bucket, jobs),
  });
  const remote = openRemoteWork(config, { commands, settings, overrides, metrics, log });
  const forsaken = watchForsakenTypes(config, { commands, settings, metrics, log });
  const app = buildApp({
    shaping,
    door,
    keyring: createKeyring(keyEntries(config, keys)),
    policed: { policing: policing.policing, policies: config.policies, routes: routeTable(config.routes) },
    admin: overrides.admin,
    directory: overrides.directory,
    feed: events.feed,
    remote,
    metrics: { of: metrics, open },
    ...(config.dashboard && {
      page: dashboard({
        redis: commands,
        shaping,
        settings,
        version,
        onError: (error) => log.error({ err: error }, 'the dashboard cannot be read'),
      }),
    }),
    trustProxy: config.trustProxy,
    limits: connectionLimits(config.connections),
    document: { version },
    ready: () => readiness(commands, memory.state, config),
    memory: () => memory.state,
    log,
    newJobId: (type, tenant) => newJobId(type, settings.shards.of(tenant)),
  });
  // A Redis that is there answers from the first request on.
  await Promise.all([untilTried(commands, DEADLINE_MS), policing.tried()]);
  await overrides.tried();
  const close = async (): Promise<void> => {
    memory.stop();
    await app.close();
    await Promise.all([remote.stop(), forsaken.stop()]);
    await policing.close();
    await overrides.close();
    await events.close();
    admitting?.close();
    closeConnection(commands);
  };
  try {
    const state = await memory.look();
    if (state.kind === 'evicts') throw new EvictingRedis(state.policy);
    await refuseOtherData(commands, storedTypes(settings), config.shards).catch(unlessAway);
    memory.start();
    remote.start();
    forsaken.start();
    await app.listen({ host: config.listen.host, port: config.listen.port });
  } catch (error) {
    await close();
    throw error;
  }
  return { url: urlOf(app.server.address(), config.listen.host), refused, close };
}

/** What could not be looked at is looked at when it is back. */
function unlessAway(error: unknown): void {
  if (!isPassing(error)) throw error;
}

function keyEntries(config: Config, keys: FirstKeys): KeyEntry[] {
  const admin = (key: string): KeyEntry => ({ hash: hashKey(key), principal: { kind: 'admin' } });
  const gateway = (key: string): KeyEntry => ({ hash: hashKey(key), principal: { kind: 'gateway' } });
  const worker = ({ key, types }: WorkerKey): KeyEntry => ({
    hash: hashKey(key),
    principal: { kind: 'worker', types },
  });
  const tenant = (id: string, key: string): KeyEntry => ({
    hash: hashKey(key),
    principal: { kind: 'tenant', tenant: id },
  });
  return [
    ...config.admin.keys.map(admin),
    ...(keys.adminKey === undefined ? [] : [admin(keys.adminKey)]),
    ...config.gateways.keys.map(gateway),
    ...config.workers.keys.map(worker),
    ...[...config.tenants.values()].flatMap(({ id, keys: own }) => own.map((key) => tenant(id, key))),
    ...(keys.demoKey === undefined ? [] : [tenant(DEMO_TENANT, keys.demoKey)]),
  ];
}

/** Without Redis no job is taken, but a policy may decide all the same; without some masters some tenants' are not. */
async function readiness(commands: RedisLink, memory: MemoryState, { policies }: Config): Promise<ReadyReport> {
  const answers = await pingServers(commands, DEADLINE_MS);
  const redis = answeringText(answers);
  if (answers.answering === 0) {
    const standing = [...policies.values()].filter(outlivesRedis).map(({ name }) => name);
    if (standing.length === 0) return { ready: false, checks: { redis } };
    return { ready: true, degraded: true, checks: { redis, policies: `${standing.join(', ')} decide without it` } };
  }
  const degraded = !allAnswer(answers);
  switch (memory.kind) {
    case 'fine':
      return { ready: true, ...(degraded && { degraded }), checks: { redis } };
    case 'high':
      return { ready: true, degraded: true, checks: { redis, memory: 'above its mark: no job is admitted' } };
    case 'evicts':
      return { ready: false, checks: { redis, memory: `maxmemory-policy is ${memory.policy}` } };
  }
}

function logMemory(state: MemoryState, log: Logger): void {
  if (state.kind === 'fine') log.info('redis has room again: jobs are admitted');
  else if (state.kind === 'high') log.warn(state, "redis' memory is above its mark: no job is admitted");
  else log.error({ policy: state.policy }, 'redis evicts and may throw away jobs: none is admitted');
}

function warnOfLoneAddress({ gateways, trustProxy }: Config, log: Logger): void {
  if (gateways.keys.length === 0 || trustProxy !== false) return;
  log.warn(
    'gateways have keys, but trustProxy is false: callers whom they do not name share one address, the gateway’s',
  );
}

function urlOf(address: AddressInfo | string | null, host: string): string {
  if (address === null || typeof address === 'string') throw new Error('the API does not listen on a port');
  return `http://${host.includes(':') ? `[${host}]` : host}:${address.port}`;
}
