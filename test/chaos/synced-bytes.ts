import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, stat, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { debianProgram } from '../support/debian-program.js';

/** How much longer each sync takes than the disk needs, in µs: what is written and not yet synced is then worth a cut. */
const SYNC_DELAY_US = 2000;

/**
 * Watches what a Redis writes to its append-only file and what it has synced of it, by strace: after a kill -9 the kernel
 * still has what a power cut would have lost, and {@link SyncWatch.cut} takes that away.
 */
export interface SyncWatch {
  /** To be called when the server is dead: leaves of its file what it had synced. Answers how many bytes went. */
  cut(): Promise<number>;
}

/** @param dir Of the server's files. Clients may write once this has resolved. */
export async function watchSyncs(dir: string, pid: number): Promise<SyncWatch> {
  const file = join(dir, 'appendonlydir', 'appendonly.aof.1.incr.aof');
  const log = join(dir, `strace.${pid}`);
  const strace = spawn(
    await debianProgram('strace'),
    [
      ...['-f', '-s', '0', '-o', log, '-p', String(pid), '-P', file, '-e', 'trace=write,fdatasync,fsync'],
      ...['-e', `inject=fdatasync,fsync:delay_enter=${SYNC_DELAY_US}`],
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  await attached(strace);
  return {
    async cut() {
      if (strace.exitCode === null) await once(strace, 'exit');
      const { size } = await stat(file);
      const synced = syncedBytes(await readFile(log, 'utf8'), size);
      await truncate(file, synced);
      return size - synced;
    },
  };
}

/**
 * How much of a file of `size` bytes was synced: all but what was written since its last sync that came to its end began.
 * Counted from the end, since a server writes by itself before anybody watches: keys that expired while it was dead.
 */
export function syncedBytes(log: string, size: number): number {
  let unsynced = 0;
  /** What was written and not yet synced when a thread's sync began. */
  const begun = new Map<string, number>();
  for (const line of log.split('\n')) {
    const [, pid = '', call = ''] = /^(\d+) +(.*)$/.exec(line) ?? [];
    const wrote = /^(?:write\(|<\.\.\. write resumed>).*= (\d+)(?: \(DELAYED\))?$/.exec(call)?.[1];
    if (wrote !== undefined) {
      unsynced += Number(wrote);
      continue;
    }
    if (/^(?:fdatasync|fsync)\(/.test(call)) begun.set(pid, unsynced);
    const isDone = /^(?:(?:fdatasync|fsync)\(|<\.\.\. (?:fdatasync|fsync) resumed>).*= 0(?: \(DELAYED\))?$/.test(call);
    if (!isDone) continue;
    const covered = begun.get(pid) ?? 0;
    unsynced -= covered;
    for (const [other, bytes] of begun) begun.set(other, Math.max(0, bytes - covered));
  }
  return size - unsynced;
}

async function attached(strace: ChildProcess): Promise<void> {
  let said = '';
  await new Promise<void>((resolve, reject) => {
    strace.stderr?.on('data', (chunk) => {
      said += String(chunk);
      if (/attached/.test(said)) resolve();
    });
    strace.once('error', reject);
    strace.once('exit', (code) => reject(new Error(`strace ended (${code}): ${said}`)));
  });
}
