import type { RedisLink } from '../redis/connection.js';
import { runScripts, type ScriptCall } from '../redis/script.js';

interface Waiting<Reply> {
  readonly call: ScriptCall<Reply>;
  readonly resolve: (reply: Reply) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Script calls that are made in the same turn of the event loop travel to Redis in one pipeline, on a cluster each by itself.
 * They wait for nothing but the end of that turn. Each is sent once, and answered or refused by itself.
 */
export class ScriptTurn<Reply> {
  readonly #redis: RedisLink;
  #waiting: Waiting<Reply>[] = [];

  constructor(redis: RedisLink) {
    this.#redis = redis;
  }

  run(call: ScriptCall<Reply>): Promise<Reply> {
    return new Promise((resolve, reject) => {
      if (this.#waiting.length === 0) process.nextTick(() => void this.#send());
      this.#waiting.push({ call, resolve, reject });
    });
  }

  async #send(): Promise<void> {
    const waiting = this.#waiting;
    this.#waiting = [];
    try {
      const calls = waiting.map(({ call }) => call);
      const replies = await runScripts(this.#redis, calls);
      waiting.forEach(({ resolve, reject }, i) => {
        const reply = replies[i];
        if (reply === undefined) reject(new Error('Redis gave no reply'));
        else if ('error' in reply) reject(reply.error);
        else resolve(reply.reply);
      });
    } catch (error) {
      for (const { reject } of waiting) reject(error);
    }
  }
}
