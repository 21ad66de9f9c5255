import { once } from 'node:events';
import { wakeChannel } from '../../src/redis/keys.js';
import type { ScriptShard } from './script-shard.js';

const FENCE = 'fence';

/** What a shard's scripts publish to its workers from now on. */
export async function wakeUps(shard: ScriptShard): Promise<{
  /** The messages since the last call, all of those that were published before it. */
  heard(): Promise<string[]>;
  close(): void;
}> {
  const subscriber = shard.redis.duplicate();
  const channel = wakeChannel(shard.tag);
  const messages: string[] = [];
  await subscriber.ssubscribe(channel);
  subscriber.on('smessage', (_, message: string) => {
    if (message === FENCE) subscriber.emit(FENCE);
    else messages.push(message);
  });
  return {
    async heard() {
      const fence = once(subscriber, FENCE);
      await shard.redis.spublish(channel, FENCE);
      await fence;
      return messages.splice(0);
    },
    close: () => subscriber.disconnect(),
  };
}
