/** Beyond so many the oldest are forgotten, and their jobs come back by their locks. */
const MOST = 10_000;

/** Fetches of which nobody knows what they came to: by token, the shard that may have a job under it. */
export class FetchesInDoubt {
  readonly #shards = new Map<string, number>();

  shardOf(token: string): number | undefined {
    return this.#shards.get(token);
  }

  add(token: string, shard: number): void {
    this.#shards.set(token, shard);
    const [oldest] = this.#shards.size > MOST ? this.#shards.keys() : [];
    if (oldest !== undefined) this.#shards.delete(oldest);
  }

  delete(token: string): void {
    this.#shards.delete(token);
  }
}
