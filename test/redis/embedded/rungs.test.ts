import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { NoRedisServer } from '../../../src/redis/embedded/embedded-redis.js';
import { findOnPath } from '../../../src/redis/embedded/find-on-path.js';
import { APT_TOOLS, pathWith, REAL_PATH } from './chosen-path.js';
import { useDataFolders } from './data-folders.js';
import { holdRedis } from './holder-process.js';

const folders = useDataFolders();
const hasApt = (await findOnPath('apt-get', REAL_PATH)) !== undefined;
const canCutNetwork = spawnSync('unshare', ['-rn', 'true']).status === 0;

describe('a server on PATH', () => {
  test('is started on a socket in the data folder, durable, never evicting, with no TCP port', async () => {
    const dataDir = await folders.create();
    const redis = await folders.start({ dataDir, path: await pathWith(['redis-server']), durability: 'always' });
    expect(redis.rungs).toEqual(['path']);
    expect(redis.rung).toBe('path');
    expect(redis.socketPath).toBe(join(dataDir, 'redis/redis.sock'));
    const client = folders.connect(redis.socketPath);
    for (const [setting, value] of [
      ['port', '0'],
      ['appendonly', 'yes'],
      ['appendfsync', 'always'],
      ['maxmemory-policy', 'noeviction'],
      ['save', ''],
      ['dir', join(dataDir, 'redis')],
    ]) {
      expect(await client.config('GET', setting ?? '')).toEqual([setting, value]);
    }
    expect(await redis.release()).toBe('stopped');
  });

  test.each([
    ['always', /^nothing that was answered/],
    ['everysec', /^about the last second/],
  ] as const)('that writes %s says in the log what that may lose, and the settings are so', async (durability, may) => {
    const told: object[] = [];
    const log = (_rung: string, about: object = {}) => told.push(about);
    const redis = await folders.start({ dataDir: await folders.create(), durability, log });
    expect(told).toMatchObject([{ durability, mayLose: expect.stringMatching(may) }]);
    const client = folders.connect(redis.socketPath);
    expect(await client.config('GET', 'appendfsync')).toEqual(['appendfsync', durability]);
    expect(await client.config('GET', 'appendonly')).toEqual(['appendonly', 'yes']);
  });

  test('may be a valkey-server', async () => {
    const server = await findOnPath('redis-server', REAL_PATH);
    const path = await pathWith([], { 'valkey-server': `exec '${server}' "$@"` });
    const redis = await folders.start({ dataDir: await folders.create(), path });
    expect(redis.rungs).toEqual(['path']);
  });

  test('that does not run is passed over', async () => {
    const server = await findOnPath('redis-server', REAL_PATH);
    const path = await pathWith([], { 'redis-server': 'exit 127', 'valkey-server': `exec '${server}' "$@"` });
    const redis = await folders.start({ dataDir: await folders.create(), path });
    expect(redis.rungs).toEqual(['path']);
  });

  test('inherits no secret of the environment, and its files are for their owner alone', async () => {
    const dataDir = await folders.create();
    const options = {
      dataDir: join(dataDir, 'new'),
      durability: 'always',
      allowDownload: false,
      path: REAL_PATH,
    } as const;
    const holder = await holdRedis(options, [], { HEADGATE_ADMIN_KEY: 'a secret' });
    expect(statSync(options.dataDir).mode & 0o077).toBe(0);
    expect(statSync(holder.started.socketPath).mode & 0o077).toBe(0);
    if (existsSync('/proc/self/environ')) {
      expect(readFileSync(`/proc/${holder.started.pid}/environ`, 'utf8')).not.toContain('a secret');
    }
    expect(await holder.release()).toBe('stopped');
  });
});

describe.runIf(hasApt)('a server fetched from the packages of the distribution', { timeout: 180_000 }, () => {
  let aptAlone = '';
  let cacheDir = '';
  beforeAll(async () => {
    aptAlone = await pathWith(APT_TOOLS);
    cacheDir = join(aptAlone, 'cache');
  });

  test('is downloaded and started where none is on PATH', async () => {
    const dataDir = await folders.create();
    const redis = await folders.start({ dataDir, path: aptAlone, cacheDir, allowDownload: true });
    expect(redis.rungs).toEqual(['fetching', 'fetched']);
    expect(redis.rung).toBe('fetched');
    expect(readFileSync(`/proc/${redis.pid}/maps`, 'utf8')).toContain(cacheDir);
    const client = folders.connect(redis.socketPath);
    await client.set('k', 'v');
    expect(await client.get('k')).toBe('v');
  });

  test('is there without a download afterwards', async () => {
    const path = await pathWith([]);
    const redis = await folders.start({ dataDir: await folders.create(), path, cacheDir, allowDownload: true });
    expect(redis.rungs).toEqual(['fetched']);
  });

  test('is fetched again where the one in the cache does not run', async () => {
    spawnSync('truncate', ['-s', '0', join(cacheDir, `redis-${process.arch}/unpacked/usr/bin/redis-check-rdb`)]);
    const redis = await folders.start({
      dataDir: await folders.create(),
      path: aptAlone,
      cacheDir,
      allowDownload: true,
    });
    expect(redis.rungs).toEqual(['fetching', 'fetched']);
  });

  test.runIf(process.getuid?.() === 0)('is fetched by a user who is not root', async () => {
    const nobody = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'];
    const dataDir = await folders.create();
    spawnSync('chown', ['65534:65534', dataDir]);
    const path = await pathWith(APT_TOOLS);
    spawnSync('chmod', ['755', path]);
    const options = { dataDir, durability: 'everysec', allowDownload: true, path } as const;
    const holder = await holdRedis(options, nobody, { JITI_FS_CACHE: 'false' });
    expect(holder.started).toMatchObject({ outcome: 'started', rungs: ['fetching', 'fetched'] });
    expect(statSync(join(dataDir, 'cache')).uid).toBe(65534);
    expect(await holder.release()).toBe('stopped');
  });
});

describe('no server', () => {
  test('is said in one sentence when nothing may be downloaded', async () => {
    const path = await pathWith([], { 'apt-get': 'exit 1' });
    const start = folders.start({ dataDir: await folders.create(), path, allowDownload: false });
    await expect(start).rejects.toThrow(NoRedisServer);
    await expect(start).rejects.toThrow(
      /^No redis-server or valkey-server is on PATH and --no-download forbids to fetch one: install one with `(sudo )?apt-get install redis-server`, or set `redis:` to the address of a server that you have\.$/,
    );
  });

  test('is said in one sentence when apt fails, with its reason, and nothing is left behind', async () => {
    const path = await pathWith([], {
      'apt-get': 'echo "E: The mirror   is on fire" >&2; exit 100',
      'apt-cache': '',
      'dpkg-deb': '',
      'dpkg-query': '',
    });
    const dataDir = await folders.create();
    const start = folders.start({ dataDir, path, allowDownload: true });
    await expect(start).rejects.toThrow(/none could be fetched \(The mirror is on fire\): install one with/);
    expect(readdirSync(join(dataDir, 'cache'))).toEqual([]);
  });

  test.runIf(hasApt && canCutNetwork)('is said in one sentence when there is no network', async () => {
    const options = {
      dataDir: await folders.create(),
      durability: 'everysec',
      allowDownload: true,
      path: await pathWith(APT_TOOLS),
    } as const;
    const { started } = await holdRedis(options, ['unshare', '-rn']);
    expect(started).toMatchObject({ outcome: 'refused', name: 'NoRedisServer', rungs: ['fetching', 'none'] });
    expect(started.message).toMatch(
      /^No redis-server or valkey-server is on PATH and none could be fetched \(.+\): install one with `(sudo )?apt-get install redis-server`, or set `redis:` to .*\.$/,
    );
  });
});
