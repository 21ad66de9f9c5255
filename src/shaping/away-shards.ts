import { EventEmitter } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { isPassing } from '../redis/outage.js';

/** Between two looks whether a shard is back. */
const LOOK_MS = 500;

/**
 * Shards of a type whose master does not answer while others do. Nobody waits for them: whether one is back is looked at in the
 * background, as long as it is among them.
 */
export class AwayShards {
  readonly #look: (shard: number) => Promise<unknown>;
  readonly #backs = new EventEmitter().setMaxListeners(0);
  readonly #away = new Set<number>();

  /**
   * @param look Asks a shard for something that changes nothing.
   * @param onBack Told before anybody else.
   */
  constructor(look: (shard: number) => Promise<unknown>, onBack: (shard: number) => void) {
    this.#look = look;
    this.onBack(onBack);
  }

  /** Calls `listener` whenever a shard is back; returns how to stop. */
  onBack(listener: (shard: number) => void): () => void {
    this.#backs.on('back', listener);
    return () => this.#backs.off('back', listener);
  }

  get size(): number {
    return this.#away.size;
  }

  has(shard: number): boolean {
    return this.#away.has(shard);
  }

  add(shard: number): void {
    if (this.#away.has(shard)) return;
    this.#away.add(shard);
    void this.#untilBack(shard);
  }

  /** None of them is told from others any more. */
  clear(): void {
    this.#away.clear();
  }

  async #untilBack(shard: number): Promise<void> {
    while (this.#away.has(shard)) {
      await pause(LOOK_MS, undefined, { ref: false });
      const isAway = await this.#look(shard).then(() => false, isPassing);
      if (!isAway && this.#away.delete(shard)) this.#backs.emit('back', shard);
    }
  }
}
