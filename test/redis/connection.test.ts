import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  type ConnectionOptions,
  closeConnection,
  openConnection,
  orUnavailable,
  untilReady,
} from '../../src/redis/connection.js';
import { isPassing, RedisUnavailable } from '../../src/redis/outage.js';
import type { RedisTarget } from '../../src/redis/redis-target.js';
import { startRedis, type TestRedis } from '../support/redis-server.js';

type Connection = ReturnType<typeof openConnection>;

let dir: string;
const servers: TestRedis[] = [];
const connections: Connection[] = [];
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'hg-connection-'));
});
afterEach(async () => {
  for (const connection of connections.splice(0)) closeConnection(connection);
  for (const server of servers.splice(0)) await server.stop();
  await rm(dir, { recursive: true });
});

async function start(options: Parameters<typeof startRedis>[0] = {}): Promise<TestRedis> {
  const server = await startRedis({ dir, ...options });
  servers.push(server);
  return server;
}

function open(target: RedisTarget, options: Partial<ConnectionOptions> = {}): Connection {
  const connection = openConnection(target, { name: 'test', deadlineMs: 2000, ...options });
  connections.push(connection);
  return connection;
}

const socket = (): RedisTarget => ({ socketPath: join(dir, 'redis.sock') });

/** What `onState` was told, in order. */
function states(): { told: string[]; onState: (state: 'up' | 'down') => void } {
  const told: string[] = [];
  return { told, onState: (state) => void told.push(state) };
}

describe('a connection', () => {
  test('is named in the client list', async () => {
    const server = await start();
    await untilReady(open(socket(), { name: 'api' }));
    expect(await server.client().client('LIST')).toContain('name=headgate:api');
  });

  test('holds no time against Redis in which this process stood still', async () => {
    await start();
    const connection = open(socket(), { deadlineMs: 100 });
    await untilReady(connection);
    // From here the loop comes to its timers before it looks at what has come in.
    await new Promise(setImmediate);
    const answers = [connection.ping(), connection.multi().ping().exec()];
    const until = performance.now() + 120;
    while (performance.now() < until);
    expect(await Promise.all(answers)).toEqual(['PONG', [[null, 'PONG']]]);
  });

  test('opened while Redis is away comes up with it, and tells down, then up', async () => {
    const { told, onState } = states();
    const redis = open(socket(), { onState });
    await expect.poll(() => told).toEqual(['down']);
    await start();
    await untilReady(redis);
    expect(await redis.ping()).toBe('PONG');
    expect(told).toEqual(['down', 'up']);
  });

  test('is waited for through attempts that fail', async () => {
    const redis = open(socket());
    const ready = untilReady(redis);
    await new Promise((resolve) => redis.once('error', resolve));
    await start();
    await ready;
    expect(await redis.ping()).toBe('PONG');
  });

  test('refuses a command at once while Redis is away, as unavailable', async () => {
    const redis = open(socket());
    await expect(orUnavailable(() => redis.ping())).rejects.toBeInstanceOf(RedisUnavailable);
  });

  test('survives a restart of Redis and tells of it once each', async () => {
    const { told, onState } = states();
    const server = await start();
    const redis = open(socket(), { onState });
    await untilReady(redis);
    await server.kill();
    await expect.poll(() => told).toEqual(['up', 'down']);
    await expect(orUnavailable(() => redis.ping())).rejects.toBeInstanceOf(RedisUnavailable);
    await start();
    await untilReady(redis);
    expect(await redis.ping()).toBe('PONG');
    expect(told).toEqual(['up', 'down', 'up']);
  });

  test('gives up on a Redis that accepts and never answers', async () => {
    const silent = createServer().listen(join(dir, 'redis.sock'));
    await once(silent, 'listening');
    const redis = open(socket(), { deadlineMs: 50 });
    await expect(orUnavailable(() => redis.ping())).rejects.toBeInstanceOf(RedisUnavailable);
    closeConnection(redis);
    silent.close();
  });

  test('gives up on a command that is not answered by the deadline, as unavailable', async () => {
    const server = await start();
    const redis = open(socket(), { deadlineMs: 50 });
    await untilReady(redis);
    process.kill(server.pid, 'SIGSTOP');
    try {
      await expect(orUnavailable(() => redis.ping())).rejects.toBeInstanceOf(RedisUnavailable);
    } finally {
      process.kill(server.pid, 'SIGCONT');
    }
  });

  test('never sends a command twice by itself', async () => {
    const server = await start({ appendonly: true });
    const redis = open(socket());
    await untilReady(redis);
    process.kill(server.pid, 'SIGSTOP');
    const flying = redis.incr('count').catch(String);
    await server.kill();
    await flying;
    await start({ appendonly: true });
    await untilReady(redis);
    expect(Number(await redis.get('count'))).toBeLessThanOrEqual(1);
    expect(await redis.incr('count')).toBeLessThanOrEqual(2);
  });

  test('closed on purpose tells nothing and does not come back', async () => {
    const { told, onState } = states();
    await start();
    const redis = open(socket(), { onState });
    await untilReady(redis);
    const ended = once(redis, 'end');
    closeConnection(redis);
    await ended;
    expect(told).toEqual(['up']);
  });

  test('reaches a port, a database of its own and a password, by URL', async () => {
    const server = await start({ port: true, args: ['--requirepass', 'a secret/word'] });
    const redis = open({ url: `redis://:a%20secret%2Fword@127.0.0.1:${server.port}/3` });
    await untilReady(redis);
    await redis.set('k', 'v');
    await redis.select(0);
    expect(await redis.exists('k')).toBe(0);
  });

  test('is not waited for any longer than its caller wants', async () => {
    const waiting = untilReady(open(socket()), AbortSignal.abort());
    await expect(waiting).rejects.toThrow(/abort/i);
  });
});

describe('what counts as an outage', () => {
  test.each([
    "READONLY You can't write against a read only replica.",
    'LOADING Redis is loading the dataset in memory',
    'CLUSTERDOWN The cluster is down',
    "OOM command not allowed when used memory > 'maxmemory'.",
    'MISCONF Redis is configured to save RDB snapshots',
    'BUSY Redis is busy running a script.',
    'Connection is closed.',
    'Command timed out',
    "Stream isn't writeable and enableOfflineQueue options is false",
    'connect ECONNREFUSED 127.0.0.1:6379',
  ])('%s', (message) => expect(isPassing(new Error(message))).toBe(true));

  test.each([
    'WRONGTYPE Operation against a key',
    'ERR Function not found',
    'NOAUTH Authentication required.',
    'no BUSY',
  ])('not: %s', async (message) => {
    expect(isPassing(new Error(message))).toBe(false);
    await expect(orUnavailable(() => Promise.reject(new Error(message)))).rejects.not.toBeInstanceOf(RedisUnavailable);
  });

  test('nothing that is no error', () => {
    expect([undefined, 'BUSY', { message: 'BUSY' }].map(isPassing)).toEqual([false, false, false]);
  });
});
