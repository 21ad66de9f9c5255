import { setTimeout as delay } from 'node:timers/promises';
import type { LogRung } from './embedded-options.js';
import type { FolderLock } from './folder-lock.js';
import type { RedisFolder } from './redis-folder.js';
import { openSession, type ServerSession } from './server-session.js';
import { removeSocketAlias } from './socket-alias.js';

/** A connection that its owner has just closed may be listed for a moment: look this often, this far apart, before believing it. */
const LOOKS = 5;
const BETWEEN_LOOKS_MS = 40;

/** Ends the server unless other connections of Headgate are left. See `ServerSession` for why no one loses a server so. */
export async function releaseServer(
  presence: ServerSession,
  socketPath: string,
  folder: RedisFolder,
  lock: FolderLock,
  log: LogRung,
): Promise<'stopped' | 'left running'> {
  presence.close();
  // A new connection: the one of the start may have been lost with a server that is long gone, or replaced.
  const session = await openSession(socketPath, folder);
  if (session === undefined) return 'stopped';
  try {
    await session.announceLeaving();
    let others = await session.otherHeadgates();
    for (let look = 1; others > 0 && look < LOOKS; look++) {
      await delay(BETWEEN_LOOKS_MS);
      others = await session.otherHeadgates();
    }
    const holder = await lock.holder();
    if (others > 0 || !(await session.shutdown())) {
      log('left running', { pid: session.pid, otherConnections: others, dataDir: folder.dataDir });
      return 'left running';
    }
    // Until it has ended, or another start has put its own server over the folder; that one's socket is left alone.
    // A server removes its pid file some time before it has ended.
    let isHeld = await lock.isHeld();
    while (isHeld && [holder, undefined].includes(await lock.holder())) {
      await delay(5);
      isHeld = await lock.isHeld();
    }
    if (!isHeld) await removeSocketAlias(folder);
    log('stopped', { pid: session.pid, dataDir: folder.dataDir });
    return 'stopped';
  } finally {
    session.close();
  }
}
