/** Numbers from a seed, the same in every run: xorshift32 (Marsaglia, "Xorshift RNGs", 2003). */
export class Random {
  #state: number;

  /** @param seed Any integer but 0. */
  constructor(seed: number) {
    this.#state = seed | 0;
  }

  /** Evenly from 0 to 1, 0 excluded. */
  uniform(): number {
    let x = this.#state;
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
    this.#state = x;
    return ((x >>> 0) + 1) / 2 ** 32;
  }

  /** Time to the next event of a Poisson process whose events come `mean` apart. */
  exponential(mean: number): number {
    return -mean * Math.log(this.uniform());
  }

  /** Of mean `mean`; `sigma` is the standard deviation of its logarithm. */
  lognormal(mean: number, sigma: number): number {
    const normal = Math.sqrt(-2 * Math.log(this.uniform())) * Math.cos(2 * Math.PI * this.uniform());
    return mean * Math.exp(sigma * normal - (sigma * sigma) / 2);
  }

  /** The items in an order of its own. */
  shuffled<Item>(items: readonly Item[]): Item[] {
    const keyed = items.map((item) => ({ item, key: this.uniform() }));
    return keyed.sort((a, b) => a.key - b.key).map(({ item }) => item);
  }
}
