/** What passed within a span of time before the latest, in the order of the instants: any of it may really have come after. */
export class Recent {
  readonly #spanMs: number;
  readonly #passed: { readonly at: number; readonly amount: number }[] = [];
  #head = 0;
  #sum = 0;

  constructor(spanMs: number) {
    this.#spanMs = spanMs;
  }

  /** Forgets what lies further back than the span before `at`. */
  until(at: number): { readonly amount: number; readonly count: number } {
    for (let first = this.#passed[this.#head]; first !== undefined; first = this.#passed[this.#head]) {
      if (first.at >= at - this.#spanMs) break;
      this.#sum -= first.amount;
      this.#head += 1;
    }
    return { amount: this.#sum, count: this.#passed.length - this.#head };
  }

  add(at: number, amount: number): void {
    this.#passed.push({ at, amount });
    this.#sum += amount;
  }
}
