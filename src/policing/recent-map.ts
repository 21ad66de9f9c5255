/** What a {@link RecentMap} needs of its entries: their own key, and two links that belong to the map. */
export interface RecentEntry<Entry> {
  readonly key: string;
  /** Asked for just before this one. */
  older: Entry | undefined;
  /** Asked for just after this one. */
  newer: Entry | undefined;
}

/**
 * A map that knows which of its entries nobody has asked for longest. Every operation takes the same few steps, however
 * many entries there are: a list runs through the entries, because moving one to the end of a Map means hashing it twice.
 */
export class RecentMap<Entry extends RecentEntry<Entry>> {
  readonly #entries = new Map<string, Entry>();
  #oldest: Entry | undefined;
  #newest: Entry | undefined;
  #hand: Iterator<Entry> | undefined;

  get size(): number {
    return this.#entries.size;
  }

  /** The entry nobody has touched for longest. */
  get oldest(): Entry | undefined {
    return this.#oldest;
  }

  get(key: string): Entry | undefined {
    return this.#entries.get(key);
  }

  /** Adds an entry whose key is not there yet; it is the newest. */
  add(entry: Entry): void {
    this.#entries.set(entry.key, entry);
    this.#append(entry);
  }

  /** Makes an entry of this map the newest. */
  touch(entry: Entry): void {
    if (entry === this.#newest) return;
    this.#unlink(entry);
    this.#append(entry);
  }

  delete(entry: Entry): void {
    if (this.#entries.delete(entry.key)) this.#unlink(entry);
  }

  clear(): void {
    this.#entries.clear();
    this.#oldest = this.#newest = this.#hand = undefined;
  }

  /** Another entry at every call, all of them in turn. Entries may come and go in between. */
  next(): Entry | undefined {
    if (this.#entries.size === 0) return undefined;
    this.#hand ??= this.#entries.values();
    const { done, value } = this.#hand.next();
    if (!done) return value;
    this.#hand = this.#entries.values();
    return this.#hand.next().value;
  }

  [Symbol.iterator](): IterableIterator<Entry> {
    return this.#entries.values();
  }

  #append(entry: Entry): void {
    entry.older = this.#newest;
    entry.newer = undefined;
    if (this.#newest) this.#newest.newer = entry;
    else this.#oldest = entry;
    this.#newest = entry;
  }

  #unlink(entry: Entry): void {
    const { older, newer } = entry;
    if (older) older.newer = newer;
    else this.#oldest = newer;
    if (newer) newer.older = older;
    else this.#newest = older;
    entry.older = entry.newer = undefined;
  }
}
