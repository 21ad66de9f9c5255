import { access, rm } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import type { EmbeddedOptions } from './embedded-options.js';
import { type EmbeddedRedis, startEmbeddedRedis } from './embedded-redis.js';
import { existingRedisFolder } from './redis-folder.js';

const FIRST_PAUSE_MS = 100;
const LAST_PAUSE_MS = 10_000;

/**
 * The embedded Redis of a data folder for as long as this process wants one: when the server ends (kill -9, out of memory),
 * it is started again over the same data. Of several processes that see it end one starts it and the others adopt it.
 * `headgate stop` is obeyed: what it ended stays ended until somebody starts Headgate over the folder.
 *
 * @throws as startEmbeddedRedis does, for the first start alone; later failures are logged, and tried again.
 */
export async function keepEmbeddedRedis(
  options: EmbeddedOptions,
): Promise<Pick<EmbeddedRedis, 'socketPath' | 'release'>> {
  const folder = await existingRedisFolder(options.dataDir);
  if (folder !== undefined) await rm(folder.stopped, { force: true });
  let current = await startEmbeddedRedis(options);
  const leaving = new AbortController();
  const keeping = keep();
  return {
    socketPath: current.socketPath,
    release: async () => {
      leaving.abort();
      const released = await current.release();
      // A start under way when we were told to leave came to something after all: it is released too.
      const last = await keeping;
      return last === current ? released : last.release();
    },
  };

  /** Resolves, once told to leave, with the server that this process came to last. */
  async function keep(): Promise<EmbeddedRedis> {
    let server = current;
    for (;;) {
      await Promise.race([server.lost, aborted(leaving.signal)]);
      if (leaving.signal.aborted) return server;
      if (await wasStopped(options.dataDir)) {
        options.log('not restarted', { reason: 'headgate stop ended it' });
        return server;
      }
      options.log('lost', { pid: server.pid });
      const again = await startAgain(options, leaving.signal);
      if (again === undefined) return server;
      server = again;
      if (!leaving.signal.aborted) current = server;
    }
  }
}

/** Undefined when told to leave before it was there, or when it was stopped on purpose meanwhile. */
async function startAgain(options: EmbeddedOptions, signal: AbortSignal): Promise<EmbeddedRedis | undefined> {
  for (let pauseMs = FIRST_PAUSE_MS; !signal.aborted; pauseMs = Math.min(pauseMs * 2, LAST_PAUSE_MS)) {
    try {
      return await startEmbeddedRedis(options);
    } catch (error) {
      options.log('not restarted', { reason: error instanceof Error ? error.message : String(error) });
    }
    await delay(pauseMs, undefined, { signal }).catch(() => undefined);
    if (await wasStopped(options.dataDir)) return undefined;
  }
  return undefined;
}

async function wasStopped(dataDir: string): Promise<boolean> {
  const folder = await existingRedisFolder(dataDir);
  return (
    folder === undefined ||
    access(folder.stopped).then(
      () => true,
      () => false,
    )
  );
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
