/** So many wrong keys may come from one address at once, and then one in so many milliseconds. */
const BURST = 20;
const EVERY_MS = 1000;
/** Addresses that are remembered; whoever has more of them at hand is not to be stopped by counting. */
const MOST = 10_000;

/** Counts wrong keys by the address that they came from, as a leaky bucket each. */
export class FailedAttempts {
  readonly #now: () => number;
  /** When the last of its attempts will have leaked out, by address; the one that failed last stands last. */
  readonly #emptyAt = new Map<string, number>();

  /** @param now Monotonic milliseconds. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Milliseconds until a key that nobody knows may come from this address again; 0 for at once. */
  waitMs(address: string): number {
    const level = (this.#emptyAt.get(address) ?? -Infinity) - this.#now();
    return Math.max(0, Math.ceil(level - (BURST - 1) * EVERY_MS));
  }

  /** A wrong key came from this address. */
  failed(address: string): void {
    const now = this.#now();
    const emptyAt = Math.max(now, this.#emptyAt.get(address) ?? now) + EVERY_MS;
    this.#emptyAt.delete(address);
    this.#emptyAt.set(address, emptyAt);
    const [oldest] = this.#emptyAt.keys();
    if (this.#emptyAt.size > MOST && oldest !== undefined) this.#emptyAt.delete(oldest);
  }
}
