import { setTimeout as delay } from 'node:timers/promises';
import { chooseServer } from './choose-server.js';
import type { EmbeddedOptions } from './embedded-options.js';
import { EmbeddedRedisError } from './embedded-redis-error.js';
import { SYSTEM_PATH } from './find-on-path.js';
import { type FolderLock, folderLock, LOCK_HELD } from './folder-lock.js';
import { type LaunchedServer, launchServer } from './launch-server.js';
import { endsTorn, mendAppendOnly } from './mend-append-only.js';
import { prepareRedisFolder, type RedisFolder } from './redis-folder.js';
import { releaseServer } from './release-server.js';
import { MAY_LOSE, serverArguments } from './server-arguments.js';
import { openSession, type ServerSession } from './server-session.js';
import { reachableSocket } from './socket-alias.js';

export type { EmbeddedOptions } from './embedded-options.js';
export { EmbeddedRedisError, NoRedisServer } from './embedded-redis-error.js';
export type { Durability } from './server-arguments.js';
export { stopEmbeddedRedis } from './stop-embedded-redis.js';

export interface EmbeddedRedis {
  /** Connect here. Name connections `headgate…` (CLIENT SETNAME), or a process that stops may end the server under them. */
  socketPath: string;
  /** `adopted`: it was already running over this data folder. Else where the program came from. */
  rung: 'adopted' | 'path' | 'fetched';
  pid: number;
  /** Resolves when the server has ended, or cut this process off. */
  lost: Promise<void>;
  /** Ends the server in an orderly way unless other connections of Headgate are left. Close your own (`quit()`) before. */
  release(): Promise<'stopped' | 'left running'>;
}

/** Functions came with Redis 7. */
const OLDEST_MAJOR = 7;

/** How long a server may take to answer at all. One that reads a long append-only file answers, and is waited for without limit. */
const SILENCE_LIMIT_MS = 15_000;

/**
 * Brings up the one server of a data folder: the one that runs, or else a new one over the same data.
 *
 * Any number of processes may call this at once; they share one server, which outlives them when they are killed.
 *
 * @throws NoRedisServer when there is none and none could be fetched.
 * @throws EmbeddedRedisError when the folder cannot be used or the server does not come up.
 */
export async function startEmbeddedRedis(options: EmbeddedOptions): Promise<EmbeddedRedis> {
  const startedAt = performance.now();
  const folder = await prepareRedisFolder(options.dataDir);
  const socketPath = await reachableSocket(folder);
  const lock = await folderLock(folder, `${options.path ?? ''}:${SYSTEM_PATH}`);

  const { session, launched, rung } = await reachServer(options, folder, socketPath, lock);
  if (Number.parseInt(session.version, 10) < OLDEST_MAJOR) {
    await releaseServer(session, socketPath, folder, lock, options.log);
    throw new EmbeddedRedisError(
      `Redis ${session.version} is too old: Headgate needs ${OLDEST_MAJOR}.0 or later. Put a newer redis-server on PATH, or name a server in \`redis:\`.`,
    );
  }
  const isOurs = launched !== undefined && session.pid === launched.pid;
  const durabilityBefore = await session.useDurability(options.durability);
  const reached = { socketPath, rung: isOurs ? rung : 'adopted', pid: session.pid } as const;
  options.log(reached.rung, {
    pid: session.pid,
    version: session.version,
    socketPath,
    dataDir: folder.dataDir,
    readyInMs: Math.round(performance.now() - startedAt),
    durability: options.durability,
    mayLose: MAY_LOSE[options.durability],
    ...(durabilityBefore === undefined ? {} : { durabilityBefore }),
  });
  return {
    ...reached,
    lost: session.lost,
    release: () => releaseServer(session, socketPath, folder, lock, options.log),
  };
}

interface Reached {
  session: ServerSession;
  launched: LaunchedServer | undefined;
  rung: 'path' | 'fetched';
}

/** Tries in turn to connect and to start, until there is a server that serves. */
async function reachServer(
  options: EmbeddedOptions,
  folder: RedisFolder,
  socketPath: string,
  lock: FolderLock,
): Promise<Reached> {
  let server: Awaited<ReturnType<typeof chooseServer>> | undefined;
  let launched: LaunchedServer | undefined;
  let silentSince = performance.now();
  let isLoadingKnown = false;
  for (;;) {
    const session = await openSession(socketPath, folder);
    if (session !== undefined && !session.isLoading && !session.someoneIsLeaving) {
      // Ours came second and may not have seen it yet: it must not wait to take the folder once this server ends.
      if (launched !== undefined && launched.pid !== session.pid) launched.kill();
      return { session, launched, rung: server?.rung ?? 'path' };
    }
    session?.close();
    if (session?.isLoading === true) {
      if (!isLoadingKnown) options.log('loading', { pid: session.pid, dataDir: folder.dataDir });
      isLoadingKnown = true;
    }
    if (session !== undefined) {
      silentSince = performance.now();
    } else if (launched === undefined) {
      if (server === undefined) {
        server = await chooseServer(options, folder);
        silentSince = performance.now();
      }
      const args = serverArguments(folder, socketPath, options.durability);
      launched = await launchServer(folder, lock, server.file, args);
    } else if (launched.ended() === LOCK_HELD) {
      // Another process' server has the folder: connect to it, or try again once it has ended.
      launched = undefined;
    } else if (launched.ended() !== undefined) {
      if (server === undefined || !endsTorn(await launched.output())) throw await didNotStart(launched, folder);
      await mend(server.file, options, folder, lock);
      launched = undefined;
      silentSince = performance.now();
    }
    if (performance.now() - silentSince > SILENCE_LIMIT_MS) {
      launched?.kill();
      throw new EmbeddedRedisError(
        `The Redis server of ${folder.dataDir} (pid ${(await lock.holder()) ?? 'unknown'}) does not answer on ${socketPath}: end it with \`headgate stop\` and look into ${folder.log}.`,
      );
    }
    await delay(launched === undefined ? 30 : 5);
  }
}

async function mend(file: string, options: EmbeddedOptions, folder: RedisFolder, lock: FolderLock): Promise<void> {
  const mended = await mendAppendOnly(file, folder.dir, options.path ?? SYSTEM_PATH, lock.holding);
  if (mended.outcome === 'mended') {
    options.log('mended', { dataDir: folder.dataDir, bytes: mended.bytes });
  } else if (mended.outcome === 'failed') {
    throw new EmbeddedRedisError(
      `The append-only file of ${folder.dir} ends in the middle of a command, as after a power cut, and cannot be mended: ${mended.message}.`,
    );
  }
}

async function didNotStart(launched: LaunchedServer, folder: RedisFolder): Promise<EmbeddedRedisError> {
  const lastLine = (await launched.output()).split('\n').at(-1) ?? '';
  return new EmbeddedRedisError(
    `Redis did not start over ${folder.dataDir} (ended with ${launched.ended()}): ${lastLine || 'it said nothing'}; see ${folder.log}.`,
  );
}
