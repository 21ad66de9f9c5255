import { spawn } from 'node:child_process';
import { open, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { EmbeddedRedisError } from './embedded-redis-error.js';
import type { FolderLock } from './folder-lock.js';
import type { RedisFolder } from './redis-folder.js';

/** A server that was started and may be starting, serving or ended. */
export interface LaunchedServer {
  pid: number;
  /** Its exit status, or the signal that ended it; undefined while it lives. */
  ended(): number | string | undefined;
  /** What it wrote to its log since it was started. */
  output(): Promise<string>;
  kill(): void;
}

/**
 * Starts a server as a detached child that outlives this process, behind the lock of its folder.
 *
 * It inherits nothing but PATH, so no secret of this process' environment stays in a process that lives for weeks.
 */
export async function launchServer(
  folder: RedisFolder,
  lock: FolderLock,
  file: string,
  args: readonly string[],
): Promise<LaunchedServer> {
  // What it says before it has read its arguments, or the loader about it, belongs in the same log.
  const log = await open(folder.log, 'a', 0o600);
  const logStart = (await log.stat()).size;
  const [program, ...rest] = lock.holding([file, ...args]);
  const child = spawn(program, rest, {
    cwd: folder.dir,
    detached: true,
    env: { PATH: dirname(file) },
    stdio: ['ignore', log.fd, log.fd],
  });
  let end: number | string | undefined;
  child.once('error', (error) => {
    end ??= error.message;
  });
  child.once('exit', (status, signal) => {
    end ??= signal ?? status ?? 'unknown';
  });
  child.unref();
  await log.close();
  if (child.pid === undefined) throw new EmbeddedRedisError(`${program} cannot be run.`);
  return {
    pid: child.pid,
    ended: () => end,
    kill: () => child.kill('SIGKILL'),
    output: async () => (await readFile(folder.log)).subarray(logStart).toString().trim(),
  };
}
