import { describe, expect, test } from 'vitest';
import { stopEmbeddedRedis } from '../../../src/redis/embedded/embedded-redis.js';
import { existingRedisFolder } from '../../../src/redis/embedded/redis-folder.js';
import { openSession, type ServerSession } from '../../../src/redis/embedded/server-session.js';
import { REAL_PATH } from './chosen-path.js';
import { isAlive, useDataFolders } from './data-folders.js';
import { holdRedis } from './holder-process.js';

const folders = useDataFolders();
const optionsFor = (dataDir: string) =>
  ({ dataDir, durability: 'everysec', allowDownload: false, path: REAL_PATH }) as const;

describe('one server per data folder', () => {
  test('is shared by processes that start at the same moment', async () => {
    const options = optionsFor(await folders.create());
    const holders = await Promise.all([1, 2, 3, 4].map(() => holdRedis(options)));
    expect(new Set(holders.map(({ started }) => started.pid)).size).toBe(1);
    expect(holders.map(({ started }) => started.rung).sort()).toEqual(['adopted', 'adopted', 'adopted', 'path']);
    for (const holder of holders) await holder.kill();
  });

  test('is shared by starts at the same moment within one process, time and again', async () => {
    const dataDir = await folders.create();
    for (let round = 0; round < 10; round++) {
      const all = await Promise.all([1, 2, 3, 4, 5].map(() => folders.start({ dataDir })));
      expect(new Set(all.map(({ pid }) => pid)).size).toBe(1);
      expect(all.filter(({ rung }) => rung === 'path')).toHaveLength(1);
      expect(await stopEmbeddedRedis(dataDir)).toBe('stopped');
    }
  });

  test('two data folders have two servers', async () => {
    const one = await folders.start({ dataDir: await folders.create() });
    const other = await folders.start({ dataDir: await folders.create() });
    expect(one.pid).not.toBe(other.pid);
  });

  test('outlives a kill -9 of the process that started it, and is adopted with its data', async () => {
    const options = optionsFor(await folders.create());
    const owner = await holdRedis(options);
    await folders.connect(owner.started.socketPath).set('k', 'v');
    await owner.kill();
    const next = await folders.start(options);
    expect(next).toMatchObject({ rung: 'adopted', rungs: ['adopted'], pid: owner.started.pid });
    expect(await folders.connect(next.socketPath).get('k')).toBe('v');
    expect(await next.release()).toBe('stopped');
  });

  test('writes as durably as whoever adopts it asks', async () => {
    const dataDir = await folders.create();
    const first = await folders.start({ dataDir, durability: 'everysec' });
    const client = folders.connect(first.socketPath);
    await folders.start({ dataDir, durability: 'always' });
    expect(await client.config('GET', 'appendfsync')).toEqual(['appendfsync', 'always']);
  });
});

describe('an orderly stop', () => {
  test('leaves the server to the other processes, and the last one ends it', async () => {
    const options = optionsFor(await folders.create());
    const holder = await holdRedis(options);
    const ours = await folders.start(options);
    expect(await ours.release()).toBe('left running');
    expect(await folders.connect(ours.socketPath).ping()).toBe('PONG');
    expect(await holder.release()).toBe('stopped');
    expect(isAlive(ours.pid)).toBe(false);
  });

  test('leaves it to any connection whose name starts with headgate', async () => {
    const ours = await folders.start({ dataDir: await folders.create() });
    await folders.connect(ours.socketPath, 'headgate-worker').ping();
    expect(await ours.release()).toBe('left running');
  });

  test('ends it under connections that are not Headgate’s', async () => {
    const ours = await folders.start({ dataDir: await folders.create() });
    await folders.connect(ours.socketPath, 'someone-else').ping();
    await folders.connect(ours.socketPath).ping();
    expect(await ours.release()).toBe('stopped');
  });

  test('counts no connection that was closed just before', async () => {
    const ours = await folders.start({ dataDir: await folders.create() });
    const connections = Array.from({ length: 20 }, () => folders.connect(ours.socketPath, 'headgate-api'));
    await Promise.all(connections.map((redis) => redis.ping()));
    for (const redis of connections) redis.disconnect();
    expect(await ours.release()).toBe('stopped');
  });

  test('is also one when the server is gone already', async () => {
    const ours = await folders.start({ dataDir: await folders.create() });
    process.kill(ours.pid, 'SIGKILL');
    await expect.poll(() => isAlive(ours.pid)).toBe(false);
    expect(await ours.release()).toBe('stopped');
  });

  test('at the moment of another start never leaves that one without a server', async () => {
    const dataDir = await folders.create();
    let current = await folders.start({ dataDir });
    for (let round = 0; round < 20; round++) {
      const [next] = await Promise.all([folders.start({ dataDir }), current.release()]);
      const client = folders.connect(next.socketPath);
      expect(await client.ping()).toBe('PONG');
      expect(await client.info('server')).toContain(`process_id:${next.pid}\r\n`);
      client.disconnect();
      current = next;
    }
    expect(await current.release()).toBe('stopped');
  });
});

describe('a process that is leaving', () => {
  const announceLeaving = async (dataDir: string, socketPath: string): Promise<ServerSession> => {
    const folder = await existingRedisFolder(dataDir);
    const session = folder && (await openSession(socketPath, folder));
    if (session === undefined) throw new Error('no server');
    await session.announceLeaving();
    return session;
  };
  /** Starts a second time, and returns once that start has met the one who is leaving, more than once. */
  const startMeanwhile = async (dataDir: string, socketPath: string) => {
    const client = folders.connect(socketPath);
    const connectionsSoFar = async () =>
      Number(/total_connections_received:(\d+)/.exec(await client.info('stats'))?.[1]);
    const before = await connectionsSoFar();
    const started = folders.start({ dataDir });
    await expect.poll(connectionsSoFar).toBeGreaterThan(before + 2);
    return { started };
  };

  test('is waited for, and its server adopted when it was left running', async () => {
    const dataDir = await folders.create();
    const first = await folders.start({ dataDir });
    const session = await announceLeaving(dataDir, first.socketPath);
    const { started } = await startMeanwhile(dataDir, first.socketPath);
    session.close();
    expect(await started).toMatchObject({ rung: 'adopted', pid: first.pid });
  });

  test('is waited for, and a new server started over its data when it was stopped', async () => {
    const dataDir = await folders.create();
    const first = await folders.start({ dataDir });
    await folders.connect(first.socketPath).set('k', 'v');
    const session = await announceLeaving(dataDir, first.socketPath);
    const { started } = await startMeanwhile(dataDir, first.socketPath);
    expect(await session.shutdown()).toBe(true);
    const { rung, socketPath } = await started;
    expect(rung).toBe('path');
    expect(await folders.connect(socketPath).get('k')).toBe('v');
  });
});
