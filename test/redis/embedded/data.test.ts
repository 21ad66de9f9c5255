import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
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

  describe('with a transaction that a power cut tore', () => {
    /** Whether a server was seen while it read its file depends on the machine. */
    const notLoading = (rung: string): boolean => rung !== 'loading';
    const torn = async (): Promise<string> => {
      const dataDir = await folders.create();
      const first = await folders.start({ dataDir, durability: 'always' });
      const redis = folders.connect(first.socketPath);
      await redis.set('before', 'v');
      await redis.multi().set('half', 'v').set('other', 'v'.repeat(100)).exec();
      process.kill(first.pid, 'SIGKILL');
      await expect.poll(() => isAlive(first.pid)).toBe(false);
      const file = join(dataDir, 'redis', 'appendonlydir', 'appendonly.aof.1.incr.aof');
      await truncate(file, (await stat(file)).size - 60);
      return dataDir;
    };

    test('is without it at the next start, and at the one after that', async () => {
      const dataDir = await torn();
      for (const rungs of [['mended', 'path'], ['path']]) {
        const server = await folders.start({ dataDir });
        expect(server.rungs.filter(notLoading)).toEqual(rungs);
        const redis = folders.connect(server.socketPath);
        expect(await redis.mget('before', 'half', 'other')).toEqual(['v', null, null]);
        process.kill(server.pid, 'SIGKILL');
        await expect.poll(() => isAlive(server.pid)).toBe(false);
      }
    });

    test('is mended once, when two processes start over it at the same time', async () => {
      const dataDir = await torn();
      const both = await Promise.all([folders.start({ dataDir }), folders.start({ dataDir })]);
      expect(both.flatMap(({ rungs }) => rungs).filter((rung) => rung === 'mended').length).toBeGreaterThan(0);
      expect(new Set(both.map(({ pid }) => pid)).size).toBe(1);
      expect(await folders.connect(both[0].socketPath).mget('before', 'half', 'other')).toEqual(['v', null, null]);
    });

    test('is left as it is where the server comes without a checker, and the error says what is missing', async () => {
      const dataDir = await torn();
      const server = await findOnPath('redis-server', REAL_PATH);
      const alone = await pathWith(['flock'], { 'redis-server': `exec '${server}' "$@"` });
      await expect(folders.start({ dataDir, path: alone })).rejects.toThrow(
        /ends in the middle of a command, as after a power cut, and cannot be mended: none of redis-check-aof, valkey-check-aof is/,
      );
      expect((await folders.start({ dataDir })).rungs.filter(notLoading)).toEqual(['mended', 'path']);
    });
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
