import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { afterEach } from 'vitest';
import {
  type EmbeddedOptions,
  type EmbeddedRedis,
  startEmbeddedRedis,
  stopEmbeddedRedis,
} from '../../../src/redis/embedded/embedded-redis.js';
import { REAL_PATH } from './chosen-path.js';

/** The data folders and servers of one test file; nothing of them is left after each test. */
export interface DataFolders {
  create(): Promise<string>;
  /** Starts the embedded Redis of a folder, noting in `rungs` what it logs. */
  start(options: Partial<EmbeddedOptions> & { dataDir: string }): Promise<EmbeddedRedis & { rungs: string[] }>;
  /** A connection to a socket, closed after the test. */
  connect(socketPath: string, name?: string): Redis;
}

/** To be called once at the top of a test file. */
export function useDataFolders(): DataFolders {
  const folders: string[] = [];
  const clients: Redis[] = [];
  afterEach(async () => {
    for (const redis of clients.splice(0)) redis.disconnect();
    for (const folder of folders.splice(0)) {
      await stopEmbeddedRedis(folder);
      await rm(folder, { recursive: true, force: true });
    }
  });
  return {
    async create() {
      const folder = await mkdtemp(join(tmpdir(), 'hg-data-'));
      folders.push(folder);
      return folder;
    },
    async start(options) {
      const rungs: string[] = [];
      const redis = await startEmbeddedRedis({
        durability: 'everysec',
        allowDownload: false,
        path: REAL_PATH,
        log: (rung) => rungs.push(rung),
        ...options,
      });
      return { ...redis, rungs };
    },
    connect(socketPath, name) {
      const redis = new Redis({ path: socketPath, ...(name === undefined ? {} : { connectionName: name }) });
      // A server that the test ends takes the connection with it.
      redis.on('error', () => undefined);
      clients.push(redis);
      return redis;
    },
  };
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
