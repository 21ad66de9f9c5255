import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { stopEmbeddedRedis } from '../../../src/redis/embedded/embedded-redis.js';
import { keepEmbeddedRedis } from '../../../src/redis/embedded/keep-embedded-redis.js';
import { REAL_PATH } from './chosen-path.js';
import { isAlive, useDataFolders } from './data-folders.js';

const folders = useDataFolders();
const releases: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const release of releases.splice(0)) await release();
});

interface Kept {
  readonly socketPath: string;
  readonly rungs: readonly string[];
  release(): Promise<string>;
}

async function keep(dataDir: string): Promise<Kept> {
  const rungs: string[] = [];
  const kept = await keepEmbeddedRedis({
    ...{ dataDir, durability: 'always', allowDownload: false, path: REAL_PATH },
    log: (rung) => rungs.push(rung),
  });
  releases.push(() => kept.release());
  return { socketPath: kept.socketPath, rungs, release: () => kept.release() };
}

/** Pid of the server that answers there now; undefined while there is none. */
async function pidOf({ socketPath }: Kept): Promise<number | undefined> {
  const redis = folders.connect(socketPath, 'someone-else');
  const info = await redis.info('server').catch(() => '');
  redis.disconnect();
  return Number(/process_id:(\d+)/.exec(info)?.[1]) || undefined;
}

async function killServer(kept: Kept): Promise<number> {
  const pid = await pidOf(kept);
  if (pid === undefined) throw new Error('there is no server');
  process.kill(pid, 'SIGKILL');
  await expect.poll(() => isAlive(pid)).toBe(false);
  return pid;
}

/** Resolves when another server than `before` answers, and who keeps it knows. */
async function untilAnother(kept: Kept, before: number): Promise<void> {
  await expect.poll(async () => (await pidOf(kept)) ?? before).not.toBe(before);
  await expect.poll(() => kept.rungs.at(-1)).toMatch(/^(path|adopted)$/);
}

describe('an embedded Redis that is killed', () => {
  test('is started again over its data, time and again', async () => {
    const kept = await keep(await folders.create());
    const client = folders.connect(kept.socketPath, 'someone-else');
    await client.set('k', 'v');
    for (let round = 0; round < 3; round += 1) await untilAnother(kept, await killServer(kept));
    expect(await folders.connect(kept.socketPath, 'someone-else').get('k')).toBe('v');
    expect(kept.rungs.filter((rung) => rung === 'lost')).toHaveLength(3);
    expect(await kept.release()).toBe('stopped');
  });

  test('is started by one of those who share it, and shared again', async () => {
    const dataDir = await folders.create();
    const [one, two] = [await keep(dataDir), await keep(dataDir)];
    await untilAnother(one, await killServer(one));
    const started = () => [...one.rungs, ...two.rungs].filter((rung) => rung === 'path' || rung === 'adopted');
    await expect.poll(started).toHaveLength(4);
    expect(started().filter((rung) => rung === 'path')).toHaveLength(2);
    expect(await one.release()).toBe('left running');
    expect(await two.release()).toBe('stopped');
  });

  test('stays ended when `headgate stop` ended it, until somebody starts anew', async () => {
    const dataDir = await folders.create();
    const kept = await keep(dataDir);
    const pid = await pidOf(kept);
    expect(await stopEmbeddedRedis(dataDir)).toBe('stopped');
    await expect.poll(() => kept.rungs.at(-1)).toBe('not restarted');
    expect(await pidOf(kept)).toBeUndefined();
    expect(await kept.release()).toBe('stopped');

    const next = await keep(dataDir);
    expect(await pidOf(next)).not.toBe(pid);
    await expect(access(join(dataDir, 'redis', 'redis.stopped'))).rejects.toThrow('ENOENT');
    await untilAnother(next, await killServer(next));
  });

  test('is not left behind by a process that leaves while it is started again', async () => {
    const dataDir = await folders.create();
    const kept = await keep(dataDir);
    await killServer(kept);
    await kept.release();
    expect(await stopEmbeddedRedis(dataDir)).toBe('not running');
  });
});
