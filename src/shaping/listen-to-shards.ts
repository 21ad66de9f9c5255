import { type ShardTag, wakeChannel } from '../redis/keys.js';
import type { Subscriber } from '../redis/subscriber.js';

/**
 * Tells `onMessage` what is published for workers in each shard, and in which, and to wake up for all of them whenever something may
 * have been missed. Returns how to stop.
 */
export function listenToShards(
  subscriber: Subscriber,
  shards: readonly { readonly tag: ShardTag }[],
  onMessage: (message: string, shard?: number) => void,
): () => void {
  const stops = shards.map(({ tag }, shard) =>
    subscriber.subscribe(wakeChannel(tag), (message) => onMessage(message, shard)),
  );
  stops.push(subscriber.onSubscribed(() => onMessage('wake')));
  return () => {
    for (const stop of stops) stop();
  };
}
