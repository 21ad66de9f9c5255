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

/** @param dir Of the server's files. Nothing may be written to it until this resolves. */
export async function watchSyncs(dir: string, pid: number): Promise<SyncWatch> {
  const file = join(dir, 'appendonlydir', 'appendonly.aof.1.incr.aof');
  const log = join(dir, `strace.${pid}`);
  const sizeBefore = (await stat(file)).size;
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
      const synced = syncedBytes(await readFile(log, 'utf8'), sizeBefore);
      const { size } = await stat(file);
      await truncate(file, Math.min(size, synced));
      return Math.max(0, size - synced);
    },
  };
}

/** How long the file was when its last sync that came to its end began. */
export function syncedBytes(log: string, sizeBefore: number): number {
  let written = sizeBefore;
  let synced = sizeBefore;
  const begun = new Map<string, number>();
  for (const line of log.split('\n')) {
    const [, pid = '', call = ''] = /^(\d+) +(.*)$/.exec(line) ?? [];
    const wrote = /^(?:write\(|<\.\.\. write resumed>).*= (\d+)(?: \(DELAYED\))?$/.exec(call)?.[1];
    if (wrote !== undefined) written += Number(wrote);
    const isSync = /^(?:fdatasync|fsync)\(/.test(call);
    if (isSync) begun.set(pid, written);
    const isDone = /^(?:(?:fdatasync|fsync)\(|<\.\.\. (?:fdatasync|fsync) resumed>).*= 0(?: \(DELAYED\))?$/.test(call);
    if (isDone) synced = Math.max(synced, begun.get(pid) ?? 0);
  }
  return synced;
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
