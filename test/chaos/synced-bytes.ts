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
  /** See {@link Syncs.slowMs}. */
  readonly slowMs: number;
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
      const { unsyncedBytes, coveredAt, slowMs } = syncsOf(await readFile(log, 'utf8'));
      await truncate(file, size - unsyncedBytes);
      return { bytes: unsyncedBytes, safeAt: coveredAt ?? attachedAt, slowMs };
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
  /**
   * By how much the disk makes a second between syncs longer: what was under way when the server died, and what the sync before
   * took beyond a second, since the next one begins when it is over.
   */
  readonly slowMs: number;
}

const LINE = /^(?<pid>\d+) +(?<seconds>\d+\.\d+) (?<call>.*)$/;

/** What was written and not yet synced when a sync began, and when that was. */
interface Sync {
  readonly bytes: number;
  readonly at: number | undefined;
  readonly beganAt: number;
}

/** Reads a log of `strace -f -ttt`. */
export function syncsOf(log: string): Syncs {
  let written: { bytes: number; at: number | undefined } = { bytes: 0, at: undefined };
  let coveredAt: number | undefined;
  let lastSyncMs = 0;
  let lastAt = 0;
  /** When a thread's write began. */
  const writing = new Map<string, number>();
  /** Under way, by thread. */
  const syncing = new Map<string, Sync>();
  for (const line of log.split('\n')) {
    const { pid = '', seconds, call = '' } = LINE.exec(line)?.groups ?? {};
    if (seconds === undefined) continue;
    lastAt = Number(seconds) * 1000;
    if (call.startsWith('write(')) writing.set(pid, lastAt);
    const wrote = /^(?:write\(|<\.\.\. write resumed>).*= (\d+)(?: \(DELAYED\))?$/.exec(call)?.[1];
    if (wrote !== undefined) {
      written = { bytes: written.bytes + Number(wrote), at: writing.get(pid) };
      continue;
    }
    if (/^(?:fdatasync|fsync)\(/.test(call)) syncing.set(pid, { ...written, beganAt: lastAt });
    const result = /^(?:(?:fdatasync|fsync)\(|<\.\.\. (?:fdatasync|fsync) resumed>).*= (0|-1)\b/.exec(call)?.[1];
    const ended = result === undefined ? undefined : syncing.get(pid);
    if (ended === undefined) continue;
    syncing.delete(pid);
    if (result !== '0') continue;
    lastSyncMs = lastAt - ended.beganAt;
    if (ended.at !== undefined && ended.at > (coveredAt ?? 0)) coveredAt = ended.at;
    written = { ...written, bytes: written.bytes - ended.bytes };
    for (const [other, sync] of syncing) syncing.set(other, { ...sync, bytes: Math.max(0, sync.bytes - ended.bytes) });
  }
  const underWayMs = Math.max(0, ...[...syncing.values()].map(({ beganAt }) => lastAt - beganAt));
  return { unsyncedBytes: written.bytes, coveredAt, slowMs: underWayMs + Math.max(0, lastSyncMs - 1000) };
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
