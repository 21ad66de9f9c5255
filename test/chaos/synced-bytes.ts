import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, stat, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { debianProgram } from '../support/debian-program.js';

/** How much longer each sync takes than the disk needs, in µs: what is written and not yet synced is then worth a cut. */
const SYNC_DELAY_US = 2000;

/** What a cut did. */
export interface Cut {
  /** How many bytes went. */
  readonly bytes: number;
  /** Wall clock, in ms since 1970: what Redis had answered by then was on the disk, and is there still. */
  readonly safeAt: number;
}

/**
 * Watches what a Redis writes to its append-only file and what it has synced of it, by strace: after a kill -9 the kernel
 * still has what a power cut would have lost, and {@link SyncWatch.cut} takes that away.
 */
export interface SyncWatch {
  /** To be called when the server is dead: leaves of its file what it had synced. */
  cut(): Promise<Cut>;
}

/** @param dir Of the server's files. Clients may write once this has resolved. */
export async function watchSyncs(dir: string, pid: number): Promise<SyncWatch> {
  const file = join(dir, 'appendonlydir', 'appendonly.aof.1.incr.aof');
  const log = join(dir, `strace.${pid}`);
  const strace = spawn(
    await debianProgram('strace'),
    [
      ...['-f', '-ttt', '-s', '0', '-o', log, '-p', String(pid), '-P', file, '-e', 'trace=write,fdatasync,fsync'],
      ...['-e', `inject=fdatasync,fsync:delay_enter=${SYNC_DELAY_US}`],
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  await attached(strace);
  const attachedAt = Date.now();
  return {
    async cut() {
      if (strace.exitCode === null) await once(strace, 'exit');
      const { size } = await stat(file);
      const { unsyncedBytes, coveredAt } = syncsOf(await readFile(log, 'utf8'));
      await truncate(file, size - unsyncedBytes);
      return { bytes: unsyncedBytes, safeAt: coveredAt ?? attachedAt };
    },
  };
}

/** What a log of strace says of one file. */
export interface Syncs {
  /**
   * What was written since the last sync that came to its end began. Counted from the end of the file, since a server writes
   * by itself before anybody watches: keys that expired while it was dead.
   */
  readonly unsyncedBytes: number;
  /**
   * When the last write began, in ms since 1970, that such a sync covered; undefined when there was none. Redis writes all
   * that it has carried out, in its order: what was answered before that instant is in that write or in an earlier one,
   * also where a write was put off while a sync was under way.
   */
  readonly coveredAt: number | undefined;
}

const LINE = /^(?<pid>\d+) +(?<seconds>\d+\.\d+) (?<call>.*)$/;

/** Reads a log of `strace -f -ttt`. */
export function syncsOf(log: string): Syncs {
  let written: { bytes: number; at: number | undefined } = { bytes: 0, at: undefined };
  let coveredAt: number | undefined;
  /** When a thread's write began. */
  const writing = new Map<string, number>();
  /** What was written and not yet synced when a thread's sync began. */
  const syncing = new Map<string, typeof written>();
  for (const line of log.split('\n')) {
    const { pid = '', seconds, call = '' } = LINE.exec(line)?.groups ?? {};
    if (call.startsWith('write(')) writing.set(pid, Number(seconds) * 1000);
    const wrote = /^(?:write\(|<\.\.\. write resumed>).*= (\d+)(?: \(DELAYED\))?$/.exec(call)?.[1];
    if (wrote !== undefined) {
      written = { bytes: written.bytes + Number(wrote), at: writing.get(pid) };
      continue;
    }
    if (/^(?:fdatasync|fsync)\(/.test(call)) syncing.set(pid, written);
    const isDone = /^(?:(?:fdatasync|fsync)\(|<\.\.\. (?:fdatasync|fsync) resumed>).*= 0(?: \(DELAYED\))?$/.test(call);
    const covered = isDone ? syncing.get(pid) : undefined;
    if (covered === undefined) continue;
    if (covered.at !== undefined && covered.at > (coveredAt ?? 0)) coveredAt = covered.at;
    written = { ...written, bytes: written.bytes - covered.bytes };
    for (const [other, { bytes, at }] of syncing) syncing.set(other, { bytes: Math.max(0, bytes - covered.bytes), at });
  }
  return { unsyncedBytes: written.bytes, coveredAt };
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
