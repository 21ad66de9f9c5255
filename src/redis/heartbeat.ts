import type { Redis } from 'ioredis';

/**
 * Keeps asking whether the other end is there, for as long as the connection is open, and takes a new one when no answer
 * came by the connection's deadline. A peer that is gone without a word (a machine without power, a forgotten entry in a
 * firewall) leaves a socket that looks fine, and on an idle one nothing else would ever show it.
 *
 * ioredis' own `socketTimeout` is no help: its timer outlives a connection that was reset, and ends the next one.
 */
export function keepAsking(redis: Redis, everyMs: number, onSilence: () => void): void {
  const ask = async (): Promise<void> => {
    const { stream } = redis;
    try {
      await redis.ping();
    } catch {
      // Another reason has ended the connection by itself.
      if (redis.status !== 'ready' || redis.stream !== stream) return;
      onSilence();
      redis.disconnect(true);
    }
  };
  const timer = setInterval(() => {
    if (redis.status === 'ready') void ask();
  }, everyMs).unref();
  redis.once('end', () => clearInterval(timer));
}
