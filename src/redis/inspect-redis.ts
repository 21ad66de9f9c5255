import type { Redis } from 'ioredis';
import { downText, stateOf } from './cluster-state.js';
import { closeConnection, openConnection } from './connection.js';
import { existingRedisFolder } from './embedded/redis-folder.js';
import { reachableSocket } from './embedded/socket-alias.js';
import { type MissingRights, missingRights } from './missing-rights.js';
import { speaksPlain, speaksTls } from './probe-port.js';
import { faultOf, faultOfServer, misconfigured, PLAIN_PORT, type RedisFault, TLS_PORT } from './redis-fault.js';
import type { ClusterTarget, RedisNode, RedisTarget } from './redis-target.js';
import { asInteger, asList, asText } from './reply.js';

/** What a Redis says about itself. */
export interface RedisFacts {
  readonly version: string;
  /** The text of `INFO memory`. */
  readonly memory: string;
  readonly appendOnly: boolean;
  /** Of a cluster, as this node knows them; none of a single server. */
  readonly masters: readonly RedisNode[];
  /** Rights that its user lacks; `undefined` where nothing could tell. */
  readonly missing: MissingRights | undefined;
}

export type Inspection = { readonly facts: RedisFacts } | { readonly fault: RedisFault };

/** How long a port may take to show what it speaks. */
const PROBE_MS = 1000;

/**
 * Asks a Redis about itself, within so many milliseconds. Of a cluster the first node is asked that answers.
 *
 * @param mayLoad Whether a library may be loaded into it, by which it tells which rights are missing.
 */
export async function inspectRedis(
  target: RedisTarget | ClusterTarget,
  withinMs: number,
  mayLoad = false,
): Promise<Inspection> {
  if (!('cluster' in target)) return inspectServer(target, target, withinMs, mayLoad);
  const { cluster, ...access } = target;
  let found: Inspection = { fault: faultOf('no node is named', target) };
  for (const { host, port } of cluster) {
    const url = `${access.tls ? 'rediss' : 'redis'}://${host.includes(':') ? `[${host}]` : host}:${port}`;
    found = await inspectServer({ ...access, url }, target, withinMs, mayLoad);
    if ('facts' in found || found.fault.kind === 'misconfigured') return found;
  }
  return found;
}

async function inspectServer(
  target: RedisTarget,
  meant: RedisTarget | ClusterTarget,
  withinMs: number,
  mayLoad: boolean,
): Promise<Inspection> {
  const redis = openConnection(target, { name: 'doctor', deadlineMs: withinMs });
  try {
    const error = await untilReadyOrFailed(redis, withinMs);
    if (error !== undefined) return { fault: (await faultOfPort(target, error)) ?? faultOf(error, meant) };
    return await inspect(redis, meant, mayLoad);
  } catch (error) {
    return { fault: faultOf(error instanceof Error ? error.message : String(error), meant) };
  } finally {
    closeConnection(redis);
  }
}

async function inspect(redis: Redis, meant: RedisTarget | ClusterTarget, mayLoad: boolean): Promise<Inspection> {
  const text = await redis.info();
  const field = (name: string): string | undefined => new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(text)?.[1];
  const version = field('valkey_version') ?? field('redis_version') ?? 'unknown';
  const self = { version, role: field('role') ?? 'master', isCluster: field('cluster_enabled') === '1' };
  const fault = faultOfServer(self, meant) ?? (self.isCluster ? await faultOfCluster(redis) : undefined);
  if (fault !== undefined) return { fault };
  const missing = await missingRights(redis, mayLoad && self.role === 'master');
  const masters = self.isCluster ? await mastersBy(redis) : [];
  return { facts: { version, memory: text, appendOnly: field('aof_enabled') === '1', masters, missing } };
}

/** Each once; CLUSTER SLOTS names them for each range of slots, and then their replicas. */
async function mastersBy(redis: Redis): Promise<readonly RedisNode[]> {
  const ranges = asList(await redis.cluster('SLOTS')).map(asList);
  const masters = ranges.map(([, , master]) => {
    const [host, port] = asList(master);
    return { host: asText(host), port: asInteger(port) };
  });
  return [...new Map(masters.map((master) => [`${master.host}:${master.port}`, master])).values()];
}

async function faultOfCluster(redis: Redis): Promise<RedisFault | undefined> {
  const state = stateOf(String(await redis.cluster('INFO')));
  if (state === 'ok') return undefined;
  return {
    kind: 'away',
    field: 'redis.cluster',
    says: downText(state),
    mend: 'look at CLUSTER NODES, and bring the missing masters or their replicas back',
  };
}

/** Nothing when the connection is usable; else the first error, or what came in place of one. */
function untilReadyOrFailed(redis: Redis, withinMs: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    let error: string | undefined;
    const timer = setTimeout(() => resolve(error ?? `no answer within ${withinMs} ms`), withinMs);
    const settle = (outcome: string | undefined): void => {
      clearTimeout(timer);
      resolve(outcome);
    };
    const note = (thrown: Error & { code?: string }): void => {
      error ??= [thrown.code, thrown.message].filter(Boolean).join(' ');
    };
    redis.once('ready', () => settle(undefined));
    // Which Sentinel said what comes before the sum of it.
    redis.on('sentinelError', note);
    redis.on('error', (thrown: Error) => {
      note(thrown);
      settle(error);
    });
    redis.on('close', () => settle(error ?? 'connection closed'));
  });
}

/** A port that was spoken to in the wrong way does not say so, but closes or is silent. */
async function faultOfPort(target: RedisTarget, error: string): Promise<RedisFault | undefined> {
  if (
    !('url' in target) ||
    !/connection closed|ECONNRESET|no answer|ETIMEDOUT|EPIPE|EPROTO|socket disconnected/i.test(error)
  )
    return undefined;
  const { protocol, hostname, port } = new URL(target.url);
  const node: RedisNode = { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || 6379) };
  if (protocol === 'rediss:') return (await speaksPlain(node, PROBE_MS)) ? misconfigured(PLAIN_PORT) : undefined;
  return (await speaksTls(node, PROBE_MS)) ? misconfigured(TLS_PORT) : undefined;
}

/** Where the embedded Redis of a data folder would answer; undefined when there never was one. */
export async function embeddedTarget(dataDir: string): Promise<RedisTarget | undefined> {
  const folder = await existingRedisFolder(dataDir);
  return folder === undefined ? undefined : { socketPath: await reachableSocket(folder) };
}
