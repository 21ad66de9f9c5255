import { constants } from 'node:fs';
import { access, mkdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { EmbeddedRedisError } from './embedded-redis-error.js';

/** Where the embedded server of one data folder keeps its things. All paths are absolute and free of symlinks. */
export interface RedisFolder {
  dataDir: string;
  /** `<dataDir>/redis`: the server's working folder, with its append-only files. */
  dir: string;
  socket: string;
  /** Locked by the kernel for as long as a server lives over this folder; its content means nothing. */
  lock: string;
  /** The pid of the server that holds the lock; left over from an earlier one while nobody holds it. */
  pid: string;
  log: string;
  /** There from `headgate stop` to the next start by a person: nobody brings the server back by himself. */
  stopped: string;
}

/**
 * Makes the folder where it is missing, readable to its owner alone, and checks that it can be written.
 *
 * @throws EmbeddedRedisError when it cannot.
 */
export async function prepareRedisFolder(dataDir: string): Promise<RedisFolder> {
  try {
    const dir = join(dataDir, 'redis');
    await mkdir(dir, { recursive: true, mode: 0o700 });
    await access(dir, constants.W_OK | constants.X_OK);
    return await redisFolder(dataDir);
  } catch (error) {
    throw unusable(dataDir, error);
  }
}

/** The folder of a data folder that may not exist: then undefined. Changes nothing. */
export async function existingRedisFolder(dataDir: string): Promise<RedisFolder | undefined> {
  try {
    return await redisFolder(dataDir);
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return undefined;
    throw unusable(dataDir, error);
  }
}

async function redisFolder(dataDir: string): Promise<RedisFolder> {
  const dir = await realpath(join(dataDir, 'redis'));
  return {
    dataDir: await realpath(dataDir),
    dir,
    socket: join(dir, 'redis.sock'),
    lock: join(dir, 'redis.lock'),
    pid: join(dir, 'redis.pid'),
    log: join(dir, 'redis.log'),
    stopped: join(dir, 'redis.stopped'),
  };
}

function unusable(dataDir: string, error: unknown): EmbeddedRedisError {
  const user = process.getuid === undefined ? 'this user' : `user ${process.getuid()}`;
  const reason = codeOf(error) ?? String(error);
  return new EmbeddedRedisError(
    `The data folder ${dataDir} cannot be written by ${user} (${reason}): choose another one or change its owner.`,
    { cause: error },
  );
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
