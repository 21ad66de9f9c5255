import { chmod, lstat, mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { EmbeddedRedisError, stopEmbeddedRedis } from '../../../src/redis/embedded/embedded-redis.js';
import { startRedis } from '../../support/redis-server.js';
import { REAL_PATH } from './chosen-path.js';
import { useDataFolders } from './data-folders.js';
import { holdRedis } from './holder-process.js';

const folders = useDataFolders();
const isRoot = process.getuid?.() === 0;

describe('a data folder', () => {
  test('that may not be written is refused by name', async () => {
    const dataDir = await folders.create();
    await chmod(dataDir, 0o555);
    const options = { dataDir, durability: 'everysec', allowDownload: false, path: REAL_PATH } as const;
    // Permissions do not bind root.
    const wrapper = isRoot ? ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'] : [];
    const { started } = await holdRedis(options, wrapper, { JITI_FS_CACHE: 'false' });
    expect(started).toMatchObject({ outcome: 'refused', name: 'EmbeddedRedisError' });
    expect(started.message).toMatch(
      /^The data folder \S+ cannot be written by user \d+ \(EACCES\): choose another one or change its owner\.$/,
    );
    expect(started.message).toContain(dataDir);
    await chmod(dataDir, 0o755);
  });

  test('that is a file is refused by name', async () => {
    const dataDir = join(await folders.create(), 'file');
    await writeFile(dataDir, '');
    await expect(folders.start({ dataDir })).rejects.toThrow(`${dataDir} cannot be written`);
  });

  test('may have blanks, quotes and other letters in its name', async () => {
    const dataDir = join(await folders.create(), `a 'b' "c" $d ä`);
    await mkdir(dataDir);
    const redis = await folders.start({ dataDir });
    expect(await folders.connect(redis.socketPath).ping()).toBe('PONG');
    expect(await redis.release()).toBe('stopped');
  });

  test('is the same by another name', async () => {
    const dataDir = await folders.create();
    const other = join(await folders.create(), 'link');
    await symlink(dataDir, other);
    const first = await folders.start({ dataDir });
    expect(await folders.start({ dataDir: other })).toMatchObject({ rung: 'adopted', pid: first.pid });
  });

  test('is not mistaken for that of a server that only listens there', async () => {
    const dataDir = await folders.create();
    await mkdir(join(dataDir, 'redis'));
    const stranger = await startRedis({ args: ['--unixsocket', join(dataDir, 'redis/redis.sock')] });
    const start = folders.start({ dataDir });
    await expect(start).rejects.toThrow(EmbeddedRedisError);
    await expect(start).rejects.toThrow(`keeps its data in ${stranger.dir}`);
    await stranger.kill();
    await stranger.stop();
  });
});

describe('a path too long for a socket', () => {
  const deep = async () => {
    const dataDir = join(await folders.create(), 'x'.repeat(60), 'y'.repeat(60));
    await mkdir(dataDir, { recursive: true });
    return dataDir;
  };

  test('is reached by a short one, which all processes share and which goes with the server', async () => {
    const dataDir = await deep();
    const options = { dataDir, durability: 'everysec', allowDownload: false, path: REAL_PATH } as const;
    const first = await folders.start(options);
    expect(Buffer.byteLength(first.socketPath)).toBeLessThan(104);
    // Another process may have another temporary folder.
    const other = await holdRedis(options, [], { TMPDIR: '/var/tmp' });
    expect(other.started).toMatchObject({ rung: 'adopted', pid: first.pid });
    expect(other.started.socketPath).not.toBe(first.socketPath);
    expect(await other.release()).toBe('left running');
    await rm(join(other.started.socketPath, '..'));
    expect(await first.release()).toBe('stopped');
    await expect(lstat(join(first.socketPath, '..'))).rejects.toThrow(/ENOENT/);
  });

  test('is refused when the short one leads elsewhere', async () => {
    const dataDir = await deep();
    const first = await folders.start({ dataDir });
    const link = join(first.socketPath, '..');
    expect(await stopEmbeddedRedis(dataDir)).toBe('stopped');
    await symlink('/nowhere', link);
    await expect(folders.start({ dataDir })).rejects.toThrow(`${link} is not the link to ${dataDir}/redis`);
    await rm(link);
  });
});
