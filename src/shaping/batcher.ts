interface Waiting<Item, Answer> {
  readonly item: Item;
  readonly weight: number;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}

interface BatcherOptions {
  /** What goes together weighs no more than this, unless it is one item. */
  readonly maxWeight: number;
  /** Batches under way at once; what comes meanwhile waits and goes together. */
  readonly maxUnderWay: number;
}

/**
 * Lets items that come at about the same time go together, as a database does with commits: an item that comes alone goes at
 * once, and the busier it gets, the more go together. Nothing waits for a timer.
 *
 * A full batch goes as soon as one may, before the answers to the last are handed out: who gets them has work to do, and
 * whoever is asked would stand idle meanwhile. One that is not full waits for the end of the turn of the event loop: what
 * else comes in this turn goes along.
 */
export class Batcher<Item, Answer> {
  readonly #send: (items: readonly Item[]) => Promise<readonly PromiseSettledResult<Answer>[]>;
  readonly #options: BatcherOptions;
  #waiting: Waiting<Item, Answer>[] = [];
  #weight = 0;
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

  /** The answer to one item, which weighs 1 unless stated. */
  add(item: Item, weight = 1): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, weight, resolve, reject });
      this.#weight += weight;
      this.#goOn();
    });
  }

  #goOn(): void {
    const { maxWeight, maxUnderWay } = this.#options;
    while (this.#weight >= maxWeight && this.#underWay < maxUnderWay) void this.#flush();
    if (this.#planned || this.#waiting.length === 0 || this.#underWay >= maxUnderWay) return;
    this.#planned = true;
    setImmediate(() => {
      this.#planned = false;
      if (this.#waiting.length > 0 && this.#underWay < maxUnderWay) void this.#flush();
    });
  }

  async #flush(): Promise<void> {
    const batch = this.#takeBatch();
    this.#underWay += 1;
    const answers = await this.#answersTo(batch);
    this.#underWay -= 1;
    this.#goOn();
    batch.forEach(({ resolve, reject }, i) => {
      const answer = answers[i];
      if (answer?.status === 'fulfilled') resolve(answer.value);
      else reject(answer?.reason ?? new Error('an item of a batch got no answer'));
    });
  }

  #takeBatch(): Waiting<Item, Answer>[] {
    let [count, weight] = [0, 0];
    for (const next of this.#waiting) {
      if (count > 0 && weight + next.weight > this.#options.maxWeight) break;
      count += 1;
      weight += next.weight;
    }
    this.#weight -= weight;
    return this.#waiting.splice(0, count);
  }

  /** Never rejects. */
  async #answersTo(batch: readonly Waiting<Item, Answer>[]): Promise<readonly PromiseSettledResult<Answer>[]> {
    try {
      return await this.#send(batch.map(({ item }) => item));
    } catch (reason) {
      return batch.map(() => ({ status: 'rejected', reason }));
    }
  }
}
