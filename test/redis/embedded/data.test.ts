import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { stopEmbeddedRedis } from '../../../src/redis/embedded/embedded-redis.js';
import { findOnPath } from '../../../src/redis/embedded/find-on-path.js';
import { pathWith, REAL_PATH } from './chosen-path.js';
import { isAlive, useDataFolders } from './data-folders.js';

const folders = useDataFolders();

describe('the data', () => {
  test('survives an orderly stop', async () => {
    const dataDir = await folders.create();
    const first = await folders.start({ dataDir });
    await folders.connect(first.socketPath).set('k', 'v');
    expect(await first.release()).toBe('stopped');
    const second = await folders.start({ dataDir });
    expect(await folders.connect(second.socketPath).get('k')).toBe('v');
  });

  test('survives a kill -9 of the server, whose socket, pid file and lock file stay behind', async () => {
    const dataDir = await folders.create();
    const first = await folders.start({ dataDir, durability: 'always' });
    await folders.connect(first.socketPath).set('k', 'v');
    process.kill(first.pid, 'SIGKILL');
    const second = await folders.start({ dataDir, durability: 'always' });
    expect(second.rung).toBe('path');
    expect(second.pid).not.toBe(first.pid);
    expect(await folders.connect(second.socketPath).get('k')).toBe('v');
  });

  test('is waited for until all of it is read', async () => {
    const dataDir = await folders.create();
    const first = await folders.start({ dataDir });
    const writes = folders.connect(first.socketPath).pipeline();
    for (let key = 0; key < 5_000; key++) writes.set(`k${key}`, 'v');
    await writes.exec();
    expect(await first.release()).toBe('stopped');
    const server = await findOnPath('redis-server', REAL_PATH);
    const slowly = await pathWith([], { 'redis-server': `exec '${server}' "$@" --key-load-delay 100` });
    const second = await folders.start({ dataDir, path: slowly });
    expect(second.rungs).toEqual(['loading', 'path']);
    expect(await folders.connect(second.socketPath).dbsize()).toBe(5_000);
  });

  test('survives headgate stop', async () => {
    const dataDir = await folders.create();
    const first = await folders.start({ dataDir });
    await folders.connect(first.socketPath).set('k', 'v');
    expect(await stopEmbeddedRedis(dataDir)).toBe('stopped');
    const second = await folders.start({ dataDir });
    expect(await folders.connect(second.socketPath).get('k')).toBe('v');
  });
});

describe('headgate stop', () => {
  test('ends the server under connections of Headgate, and then there is nothing to end', async () => {
    const dataDir = await folders.create();
    const redis = await folders.start({ dataDir });
    await folders.connect(redis.socketPath, 'headgate-worker').ping();
    expect(await stopEmbeddedRedis(dataDir)).toBe('stopped');
    expect(isAlive(redis.pid)).toBe(false);
    expect(await stopEmbeddedRedis(dataDir)).toBe('not running');
  });

  test('finds nothing running in a folder that was never used, and makes nothing', async () => {
    const dataDir = join(await folders.create(), 'never');
    expect(await stopEmbeddedRedis(dataDir)).toBe('not running');
    expect(existsSync(dataDir)).toBe(false);
  });

  test('ends a server that cannot be reached, by its pid, without a loss', async () => {
    const dataDir = await folders.create();
    const redis = await folders.start({ dataDir });
    await folders.connect(redis.socketPath).set('k', 'v');
    await rm(redis.socketPath);
    expect(await stopEmbeddedRedis(dataDir)).toBe('stopped');
    expect(isAlive(redis.pid)).toBe(false);
    const second = await folders.start({ dataDir });
    expect(await folders.connect(second.socketPath).get('k')).toBe('v');
  });

  test('ends no innocent process whose pid stands in a file left behind', async () => {
    const dataDir = await folders.create();
    await (await folders.start({ dataDir })).release();
    const innocent = spawn('sleep', ['600'], { stdio: 'ignore' });
    await writeFile(join(dataDir, 'redis/redis.pid'), `${innocent.pid}\n`);
    expect(await stopEmbeddedRedis(dataDir)).toBe('not running');
    const redis = await folders.start({ dataDir });
    expect(await redis.release()).toBe('stopped');
    expect(innocent.exitCode ?? innocent.signalCode).toBeNull();
    innocent.kill();
    expect((await once(innocent, 'exit'))[1]).toBe('SIGTERM');
  });
});

describe('what stands in the data folder', () => {
  test('may be garbage in the lock and pid files', async () => {
    const dataDir = await folders.create();
    await (await folders.start({ dataDir })).release();
    for (const file of ['redis.lock', 'redis.pid', 'redis.sock']) {
      await writeFile(join(dataDir, 'redis', file), 'garbage\0\n-1 999999');
    }
    expect(await stopEmbeddedRedis(dataDir)).toBe('not running');
    const redis = await folders.start({ dataDir });
    expect(redis.rung).toBe('path');
    expect(await readFile(join(dataDir, 'redis/redis.pid'), 'utf8')).toBe(`${redis.pid}\n`);
  });

  test('is named, with what the server said, when the server cannot read its data', async () => {
    const dataDir = await folders.create();
    await (await folders.start({ dataDir })).release();
    const files = await readdir(join(dataDir, 'redis/appendonlydir'));
    const manifest = files.find((file) => file.endsWith('.manifest')) ?? 'no manifest';
    await writeFile(join(dataDir, 'redis/appendonlydir', manifest), 'garbage\n');
    const start = folders.start({ dataDir });
    await expect(start).rejects.toThrow(`Redis did not start over ${dataDir}`);
    await expect(start).rejects.toThrow(/ended with 1\): .*\S.*; see .*\/redis\.log\.$/);
  });
});
