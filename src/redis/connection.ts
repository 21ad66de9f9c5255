import { once } from 'node:events';
import type { Cluster, Redis, RedisOptions } from 'ioredis';
import { keepAsking } from './heartbeat.js';
import { openCluster } from './open-cluster.js';
import { isFull, isPassing, RedisFull, RedisUnavailable } from './outage.js';
import { withoutArguments } from './private-error.js';
import { PunctualRedis } from './punctual-redis.js';
import { addressOf, type ClusterTarget, type RedisTarget } from './redis-target.js';

/** A connection: to one server, or to all masters of a cluster. */
export type RedisLink = Redis | Cluster;

export interface ConnectionOptions {
  /** Shown in CLIENT LIST as `headgate:<name>`. */
  readonly name: string;
  /** A command that was not answered by then counts as not answered, in milliseconds. */
  readonly deadlineMs: number;
  /** How often an idle connection is asked whether it is one still, in milliseconds; 5 s unless stated. */
  readonly heartbeatMs?: number;
  /** Told once when Redis goes away and once when it is back. */
  readonly onState?: (state: 'up' | 'down', detail: string) => void;
}

const FIRST_RETRY_MS = 50;
const LAST_RETRY_MS = 1000;
const HEARTBEAT_MS = 5000;
/** How long the other end may take to agree that a connection is over; one that is gone never does. */
const DISCONNECT_MS = 200;
/** A Redis that reads a long file says how long it still takes, and is never right: look again by then. */
const LOADING_LOOK_MS = 500;

/**
 * A connection to Redis that never hangs: nothing is queued while Redis is away, nothing is sent twice behind the
 * caller's back, and every command ends by the deadline. It reconnects by itself for as long as it is open, also when the
 * other end is gone without a word: a heartbeat that is not answered by the deadline takes a new connection.
 *
 * The rest of the project gets its Redis from here and never opens one itself.
 */
export function openConnection(target: RedisTarget, options: ConnectionOptions): Redis;
export function openConnection(target: RedisTarget | ClusterTarget, options: ConnectionOptions): RedisLink;
export function openConnection(target: RedisTarget | ClusterTarget, options: ConnectionOptions): RedisLink {
  if ('cluster' in target) return openClusterLink(target, options);
  const settings: RedisOptions = {
    ...addressOf(target, options.deadlineMs),
    connectionName: `headgate:${options.name}`,
    lazyConnect: true,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    // Whoever subscribes does it again; the client would put the prefix before channels that have it.
    autoResubscribe: false,
    maxRetriesPerRequest: 0,
    connectTimeout: options.deadlineMs,
    disconnectTimeout: DISCONNECT_MS,
    maxLoadingRetryTime: LOADING_LOOK_MS,
    disableClientInfo: true,
    reconnectOnError: isDemoted,
    retryStrategy: retryMs,
  };
  const redis = new PunctualRedis(settings, options.deadlineMs);
  const note = reportState(redis, options.onState);
  keepAsking(redis, options.heartbeatMs ?? HEARTBEAT_MS, () => note(`no answer within ${options.deadlineMs} ms`));
  // A first attempt that fails is retried like any other; whoever needs Redis to be there waits with untilReady().
  redis.connect().catch(() => undefined);
  return redis;
}

function openClusterLink(target: ClusterTarget, options: ConnectionOptions): Cluster {
  const cluster = openCluster(target, {
    name: options.name,
    deadlineMs: options.deadlineMs,
    heartbeatMs: options.heartbeatMs ?? HEARTBEAT_MS,
    disconnectMs: DISCONNECT_MS,
    retryMs,
  });
  reportState(cluster, options.onState);
  return cluster;
}

/** Wait before attempt n to reach what did not answer. */
export function retryMs(attempt: number): number {
  return Math.min(LAST_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(attempt, 6)) * (0.75 + Math.random() / 2);
}

/** The master has become a replica: whoever is it now answers to a new connection, where anything can tell. */
function isDemoted(error: Error): boolean {
  return error.message.startsWith('READONLY');
}

/** Resolves when the connection is usable; at once when it is already. Rejects when `signal` is aborted first. */
export async function untilReady(redis: RedisLink, signal?: AbortSignal): Promise<void> {
  while (redis.status !== 'ready') {
    try {
      await once(redis, 'ready', signal ? { signal } : {});
    } catch (error) {
      // An attempt that failed is followed by others.
      if (signal?.aborted) throw error;
    }
  }
}

/** Resolves once the connection is usable, its first attempt has failed, or `withinMs` has passed, whichever comes first. */
export async function untilTried(redis: RedisLink, withinMs: number): Promise<void> {
  if (redis.status === 'ready') return;
  await new Promise<void>((resolve) => {
    const timer = setTimeout(done, withinMs);
    function done(): void {
      clearTimeout(timer);
      redis.off('ready', done);
      redis.off('close', done);
      resolve();
    }
    redis.on('ready', done);
    redis.on('close', done);
  });
}

/** Runs `ask`, turning every sign that Redis is away into {@link RedisUnavailable}, and that it is full into {@link RedisFull}. */
export async function orUnavailable<Reply>(ask: () => Promise<Reply>): Promise<Reply> {
  try {
    return await ask();
  } catch (thrown) {
    const error = withoutArguments(thrown);
    if (isFull(error)) throw new RedisFull('Redis has no room', { cause: error });
    if (isPassing(error)) throw new RedisUnavailable('Redis is not available', { cause: error });
    throw error;
  }
}

const closedOnPurpose = new WeakSet<RedisLink>();

/** Closes without waiting for a Redis that may never answer. */
export function closeConnection(redis: RedisLink): void {
  closedOnPurpose.add(redis);
  redis.disconnect(false);
}

/** A channel's name on the Redis of a connection: with what every key begins with. */
export function channelOn(redis: RedisLink, channel: string): string {
  return `${redis.options.keyPrefix ?? ''}${channel}`;
}

const CLOSED = 'connection closed';

/** Tells `onState` of changes; what it returns notes why the connection is about to be closed. */
function reportState(redis: RedisLink, onState: ConnectionOptions['onState']): (reason: string) => void {
  let state: 'up' | 'down' | undefined;
  let reason = CLOSED;
  const change = (to: 'up' | 'down', detail: string): void => {
    if (state !== to && !closedOnPurpose.has(redis)) onState?.(to, detail);
    state = to;
  };
  redis.on('error', (error: Error) => {
    reason = error.message || String(error);
    if (redis.status !== 'ready') change('down', reason);
  });
  redis.on('ready', () => {
    reason = CLOSED;
    change('up', '');
  });
  redis.on('close', () => change('down', reason));
  return (noted) => {
    reason = noted;
  };
}
