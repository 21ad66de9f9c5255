/** What a {@link RecentMap} holds: its own key, and what belongs to the map that it is in. */
export abstract class RecentEntry<Entry> {
  readonly key: string;
  /** Asked for just before this one. */
  older: Entry | undefined;
  /** Asked for just after this one. */
  newer: Entry | undefined;
  /** The map that it is in, if any. */
  map: object | undefined;

  constructor(key: string) {
    this.key = key;
  }
}

/** Somebody who asks for the entry of one key again and again, and may keep what was found. */
export interface Finder {
  readonly subject: string;
  found?: object | undefined;
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

  /** Whether something is an entry of this map. */
  holds(entry: object | undefined): entry is Entry {
    return entry instanceof RecentEntry && entry.map === this;
  }

  /** The entry of a subject: the one that was found before, as long as it is here, else it is looked up. */
  find(finder: Finder): Entry | undefined {
    const { found, subject } = finder;
    if (this.holds(found) && found.key === subject) return found;
    const entry = this.#entries.get(subject);
    if (entry !== undefined && 'found' in finder) finder.found = entry;
    return entry;
  }

  /** Adds an entry, which is then the newest; false where another one has its key. */
  add(entry: Entry): boolean {
    if (this.#entries.has(entry.key)) return false;
    this.#entries.set(entry.key, entry);
    entry.map = this;
    this.#append(entry);
    return true;
  }

  /** Makes an entry of this map the newest. */
  touch(entry: Entry): void {
    if (entry === this.#newest) return;
    this.#unlink(entry);
    this.#append(entry);
  }

  delete(entry: Entry): void {
    if (!this.#entries.delete(entry.key)) return;
    this.#unlink(entry);
    entry.older = entry.newer = entry.map = undefined;
  }

  clear(): void {
    for (const entry of this.#entries.values()) entry.older = entry.newer = entry.map = undefined;
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

  #unlink({ older, newer }: Entry): void {
    if (older) older.newer = newer;
    else this.#oldest = newer;
    if (newer) newer.older = older;
    else this.#newest = older;
  }
}
