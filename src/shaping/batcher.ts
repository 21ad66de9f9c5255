interface Waiting<Item, Answer> {
  readonly item: Item;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}

interface BatcherOptions {
  /** Items that go together at most. */
  readonly maxItems: number;
  /** Batches under way at once; what comes meanwhile waits and goes together. */
  readonly maxUnderWay: number;
}

/**
 * Lets items that come at about the same time go together, as a database does with commits: an item that comes alone goes at
 * once, and the busier it gets, the more go together. Nothing waits for a timer.
 */
export class Batcher<Item, Answer> {
  readonly #send: (items: readonly Item[]) => Promise<readonly PromiseSettledResult<Answer>[]>;
  readonly #options: BatcherOptions;
  #waiting: Waiting<Item, Answer>[] = [];
  #underWay = 0;
  #planned = false;

  /** @param send Says of every item, in order, what came of it, or fails for all of them. */
  constructor(
    send: (items: readonly Item[]) => Promise<readonly PromiseSettledResult<Answer>[]>,
    options: BatcherOptions,
  ) {
    this.#send = send;
    this.#options = options;
  }

  /** The answer to one item. */
  add(item: Item): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject });
      this.#plan();
    });
  }

  /** At the end of the turn of the event loop: what else ends in this turn goes along. */
  #plan(): void {
    if (this.#planned || this.#waiting.length === 0 || this.#underWay === this.#options.maxUnderWay) return;
    this.#planned = true;
    setImmediate(() => {
      this.#planned = false;
      void this.#flush();
      this.#plan();
    });
  }

  async #flush(): Promise<void> {
    const batch = this.#waiting.splice(0, this.#options.maxItems);
    this.#underWay += 1;
    try {
      const results = await this.#send(batch.map(({ item }) => item));
      batch.forEach(({ resolve, reject }, i) => {
        const result = results[i];
        if (result?.status === 'fulfilled') resolve(result.value);
        else reject(result?.reason ?? new Error('an item of a batch got no answer'));
      });
    } catch (error) {
      for (const { reject } of batch) reject(error);
    } finally {
      this.#underWay -= 1;
      this.#plan();
    }
  }
}
