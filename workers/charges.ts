const LEAST_COST = 0.001;
const GREATEST_COST = 10_000;

/** @throws TypeError For anything but a number of units in range. */
export function checkCost(cost: number): void {
  if (typeof cost === 'number' && cost >= LEAST_COST && cost <= GREATEST_COST) return;
  throw new TypeError(`charge: expected a cost from ${LEAST_COST} to ${GREATEST_COST} units; got ${String(cost)}`);
}

/**
 * The costs that the handler of one run states, brought to Redis one at a time; what a later one has overtaken is left
 * out. So the last one arrives whether or not the handler waits for it, once {@link Charges.done} has resolved.
 */
export class Charges {
  readonly #send: (cost: number) => Promise<unknown>;
  #stated = 0;
  #isOver = false;
  #underWay: Promise<void> = Promise.resolve();

  /** @param send Brings one cost to Redis, however long that takes. */
  constructor(send: (cost: number) => Promise<unknown>) {
    this.#send = send;
  }

  /**
   * States a cost. Resolves when it has arrived, or a later one has; rejects when it could not be brought.
   *
   * @throws TypeError At once, for anything but a number of units in range.
   */
  charge(cost: number): Promise<void> {
    checkCost(cost);
    if (this.#isOver) return Promise.resolve();
    this.#stated += 1;
    const place = this.#stated;
    const sent = this.#underWay.then(async () => {
      if (place === this.#stated) await this.#send(cost);
    });
    this.#underWay = sent.catch(() => undefined);
    return sent;
  }

  /** The run is over: what is stated from now on does not count. Resolves when nothing is under way any more. */
  async done(): Promise<void> {
    this.#isOver = true;
    await this.#underWay;
  }
}
