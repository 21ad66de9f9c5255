import { stat } from 'node:fs/promises';
import { Redis } from 'ioredis';
import { EmbeddedRedisError } from './embedded-redis-error.js';
import type { RedisFolder } from './redis-folder.js';

/** How Headgate's connections are told from others in CLIENT LIST: their names start with this. */
export const HEADGATE_NAME = /^headgate/;
const PRESENT = 'headgate-embedded';
const LEAVING = 'leaving-headgate';

/**
 * One connection to the server of a folder, for its administration.
 *
 * Entering and leaving agree without a lock, since the server does one command at a time: who enters first names itself
 * `headgate…` and then looks whether somebody is leaving; who leaves first names itself so and then looks who is there.
 * Whichever comes second sees the other. So no server is stopped under a process that has just adopted it.
 */
export interface ServerSession {
  pid: number;
  version: string;
  isLoading: boolean;
  /** Somebody may stop this server in a moment. */
  someoneIsLeaving: boolean;
  /** Resolves when the connection is over: the server ended, it was cut, or it was closed here. */
  lost: Promise<void>;
  /** Tells others that this process may stop the server; from here on this connection does not count as Headgate's. */
  announceLeaving(): Promise<void>;
  /** How many other connections of Headgate the server has. */
  otherHeadgates(): Promise<number>;
  /** The mode of writing the append-only file that was in force, if it had to be changed to `durability`. */
  useDurability(durability: string): Promise<string | undefined>;
  /** Ends the server in an orderly way. False when it refused to, which its log explains. */
  shutdown(): Promise<boolean>;
  close(): void;
}

/**
 * Connects to a server, if there is one.
 *
 * @throws EmbeddedRedisError when the server keeps its data elsewhere than in `folder`.
 */
export async function openSession(socketPath: string, folder: RedisFolder): Promise<ServerSession | undefined> {
  const redis = new Redis({
    path: socketPath,
    connectionName: PRESENT,
    lazyConnect: true,
    enableReadyCheck: false,
    disableClientInfo: true,
    maxRetriesPerRequest: 0,
    connectTimeout: 2_000,
    commandTimeout: 5_000,
    retryStrategy: () => null,
  });
  // A lost connection shows in the command that fails; without a listener ioredis would print it.
  redis.on('error', () => undefined);
  try {
    await redis.connect();
    const info = fieldsOf(await redis.info());
    const dir = String(await redis.config('GET', 'dir').then((reply) => (Array.isArray(reply) ? reply[1] : '')));
    if (!(await isSameFolder(dir, folder.dir))) {
      throw new EmbeddedRedisError(
        `The server that listens on ${folder.socket} keeps its data in ${dir}: stop it, or choose another data folder.`,
      );
    }
    return session(redis, info, await namesOf(redis));
  } catch (error) {
    redis.disconnect();
    if (error instanceof EmbeddedRedisError) throw error;
    return undefined;
  }
}

function session(redis: Redis, info: ReadonlyMap<string, string>, names: readonly string[]): ServerSession {
  return {
    pid: Number(info.get('process_id')),
    version: info.get('valkey_version') ?? info.get('redis_version') ?? 'unknown',
    isLoading: info.get('loading') === '1',
    someoneIsLeaving: names.includes(LEAVING),
    lost: new Promise((resolve) => redis.once('end', resolve)),
    async announceLeaving() {
      await redis.client('SETNAME', LEAVING);
    },
    async otherHeadgates() {
      return (await namesOf(redis)).filter((name) => HEADGATE_NAME.test(name)).length;
    },
    async useDurability(durability) {
      const reply = await redis.config('GET', 'appendfsync');
      const before = Array.isArray(reply) ? String(reply[1]) : '';
      if (before === durability) return undefined;
      await redis.config('SET', 'appendfsync', durability);
      return before;
    },
    async shutdown() {
      const ended = new Promise<true>((resolve) => redis.once('end', () => resolve(true)));
      const refused = redis.shutdown().then(
        () => false,
        (error: unknown) => (error instanceof Error && error.name === 'ReplyError' ? false : ended),
      );
      return Promise.race([ended, refused]);
    },
    close: () => redis.disconnect(),
  };
}

async function namesOf(redis: Redis): Promise<string[]> {
  const list = String(await redis.client('LIST'));
  return list.split('\n').flatMap((line) => /(?:^| )name=(\S+)/.exec(line)?.[1] ?? []);
}

function fieldsOf(info: string): Map<string, string> {
  return new Map(
    info.split('\r\n').flatMap((line) => {
      const colon = line.indexOf(':');
      return colon > 0 ? [[line.slice(0, colon), line.slice(colon + 1)] as const] : [];
    }),
  );
}

/** The same folder, be it by another name: a container may see it elsewhere than the server does. */
async function isSameFolder(theirs: string, ours: string): Promise<boolean> {
  if (theirs === ours) return true;
  const [a, b] = await Promise.all([stat(theirs).catch(() => undefined), stat(ours)]);
  return a !== undefined && a.dev === b.dev && a.ino === b.ino;
}
