import { realpath } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { findOnPath } from './find-on-path.js';
import { type FolderLock, LOCK_HELD } from './folder-lock.js';
import { runCommand } from './run-command.js';

/** `mended` with the bytes that went; `taken`: another process has the folder by now; else what a person has to do. */
export type Mended =
  | { readonly outcome: 'mended'; readonly bytes: number }
  | { readonly outcome: 'taken' }
  | { readonly outcome: 'failed'; readonly message: string };

const CHECKERS = ['redis-check-aof', 'valkey-check-aof'];
const MANIFEST = join('appendonlydir', 'appendonly.aof.manifest');

/** It reads the whole file. */
const AT_MOST_MS = 3_600_000;

/**
 * Whether a server with `aof-load-truncated no` refused to start because its file ends in the middle of a command or of a
 * transaction, as after a power cut.
 */
export function endsTorn(output: string): boolean {
  return /Unexpected end of file reading the append only file/.test(output);
}

/**
 * Cuts a torn append-only file back to its last whole transaction, by the checker that comes with the server.
 *
 * A server that is told to load such a file all the same leaves the whole commands of the torn transaction in it: they take
 * effect, half a transaction, at the start after that one (Redis 7.0.15, tried). What goes had not been answered where every
 * command is synced, and is within what `everysec` may lose otherwise.
 *
 * @param serverFile The server's program: its checker is looked for beside it, then on `path`.
 * @param dir The server's working folder.
 * @param holding Makes of a command one that keeps the folder to itself, and ends with `LOCK_HELD` when another has it.
 */
export async function mendAppendOnly(
  serverFile: string,
  dir: string,
  path: string,
  holding: FolderLock['holding'],
): Promise<Mended> {
  const checker = await checkerOf(serverFile, path);
  if (checker === undefined) {
    return { outcome: 'failed', message: `none of ${CHECKERS.join(', ')} is beside the server or on PATH to mend it` };
  }
  const [program, ...args] = holding(['/bin/sh', '-c', 'echo y | "$0" --fix "$1"', checker, MANIFEST]);
  const { status, stdout, stderr } = await runCommand(program, args, { timeoutMs: AT_MOST_MS, cwd: dir });
  if (status === LOCK_HELD) return { outcome: 'taken' };
  if (status !== 0)
    return { outcome: 'failed', message: `${checker}: ${`${stdout}\n${stderr}`.trim().split('\n').at(-1)}` };
  return { outcome: 'mended', bytes: Number(/^This will shrink .* with (\d+) bytes/m.exec(stdout)?.[1] ?? 0) };
}

async function checkerOf(serverFile: string, path: string): Promise<string | undefined> {
  const folders = [dirname(serverFile), dirname(await realpath(serverFile)), path].join(delimiter);
  for (const name of CHECKERS) {
    const file = await findOnPath(name, folders);
    if (file !== undefined) return file;
  }
  return undefined;
}
