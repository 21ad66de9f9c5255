import { writeFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { SYSTEM_PATH } from './find-on-path.js';
import { type FolderLock, folderLock } from './folder-lock.js';
import { existingRedisFolder } from './redis-folder.js';
import { openSession } from './server-session.js';
import { reachableSocket, removeSocketAlias } from './socket-alias.js';

/** How long a server may take to write what it has, after each of: SHUTDOWN, SIGTERM, SIGKILL. */
const PATIENCE_MS = 10_000;

/**
 * Ends the server of a data folder, whoever is connected to it: by SHUTDOWN, and if it does not answer by its pid.
 *
 * @param path where to look, before the system's folders, for the tool that locks; as in the variable PATH
 */
export async function stopEmbeddedRedis(dataDir: string, path = ''): Promise<'stopped' | 'not running'> {
  const folder = await existingRedisFolder(dataDir);
  if (folder === undefined) return 'not running';
  const lock = await folderLock(folder, `${path}:${SYSTEM_PATH}`);
  if (!(await lock.isHeld())) return 'not running';
  // Before it ends, or a process that runs would bring it back.
  await writeFile(folder.stopped, '');

  const session = await openSession(await reachableSocket(folder), folder);
  if (session !== undefined) void session.shutdown();
  if (!(session !== undefined && (await isFreed(lock)))) {
    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      // The lock is held, so the pid beside it is that of the server and no other process' by now.
      await endByPid(lock, signal);
      if (await isFreed(lock)) break;
    }
  }
  session?.close();
  await removeSocketAlias(folder);
  return 'stopped';
}

async function isFreed(lock: FolderLock): Promise<boolean> {
  const deadline = performance.now() + PATIENCE_MS;
  while (await lock.isHeld()) {
    if (performance.now() > deadline) return false;
    await delay(20);
  }
  return true;
}

async function endByPid(lock: FolderLock, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
  const pid = await lock.holder();
  if (pid === undefined) return;
  try {
    process.kill(pid, signal);
  } catch {
    // It ended meanwhile.
  }
}
