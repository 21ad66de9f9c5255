import { createHash, randomBytes } from 'node:crypto';
import type { Sessions } from '../http/sessions.js';
import { orUnavailable, type RedisLink } from '../redis/connection.js';
import { sessionsKey } from '../redis/keys.js';
import { isPassing } from '../redis/outage.js';

/** A session ends by itself after so long. */
export const SESSION_MS = 12 * 3_600_000;
/** With one key so many sessions may be open; then the oldest ends. */
const MOST_OF_ONE_KEY = 50;
/** Another process may have ended a session: what was found is looked up again after this, in milliseconds. */
const FRESH_MS = 5000;
/** Sessions that are remembered. */
const MOST = 10_000;

interface Known {
  readonly keyHash: string;
  readonly foundAt: number;
}

/**
 * {@link Sessions} in Redis, so that every process knows them. A token is the hash of the key that signed in, and a secret;
 * Redis has the secret's SHA-256 alone. What was found is remembered for a moment; while Redis is away it holds.
 */
export class RedisSessions implements Sessions {
  readonly #redis: RedisLink;
  readonly #known = new Map<string, Known>();

  /** The connection is the caller's to close. */
  constructor(redis: RedisLink) {
    this.#redis = redis;
  }

  /** Opens a session by the key of this hash; answers its token. */
  async open(keyHash: string): Promise<string> {
    const secret = randomBytes(32).toString('base64url');
    const key = sessionsKey(keyHash);
    const now = Date.now();
    await orUnavailable(async () => {
      const done = await this.#redis
        .multi()
        .zremrangebyscore(key, '-inf', now)
        .zadd(key, now + SESSION_MS, sha256(secret))
        .zremrangebyrank(key, 0, -MOST_OF_ONE_KEY - 1)
        .pexpire(key, SESSION_MS)
        .exec();
      const fault = done?.find(([error]) => error)?.[0];
      if (fault) throw fault;
    });
    return `${keyHash}.${secret}`;
  }

  remembers(token: string): boolean {
    return this.#known.has(sha256(token));
  }

  async find(token: string): Promise<string | undefined> {
    const id = sha256(token);
    const known = this.#known.get(id);
    if (known !== undefined && performance.now() - known.foundAt < FRESH_MS) return known.keyHash;
    try {
      return await this.#lookUp(id, token);
    } catch (error) {
      if (known !== undefined && isPassing(error)) return known.keyHash;
      throw error;
    }
  }

  /** Ends a session, here at once and in other processes in a moment. */
  async close(token: string): Promise<void> {
    const [keyHash, secret] = partsOf(token);
    await orUnavailable(() => this.#redis.zrem(sessionsKey(keyHash), sha256(secret)));
    this.#known.delete(sha256(token));
  }

  async #lookUp(id: string, token: string): Promise<string | undefined> {
    const [keyHash, secret] = partsOf(token);
    const until = await orUnavailable(() => this.#redis.zscore(sessionsKey(keyHash), sha256(secret)));
    this.#known.delete(id);
    if (until === null || Number(until) <= Date.now()) return undefined;
    this.#known.set(id, { keyHash, foundAt: performance.now() });
    const [oldest] = this.#known.keys();
    if (this.#known.size > MOST && oldest !== undefined) this.#known.delete(oldest);
    return keyHash;
  }
}

function partsOf(token: string): [keyHash: string, secret: string] {
  const [keyHash = '', secret = ''] = token.split('.');
  return [keyHash, secret];
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}
