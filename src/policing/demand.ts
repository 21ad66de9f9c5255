/**
 * How many units per second somebody is asked for just now. It rises with the first call of a rush, and falls by half for
 * every horizon in which less was asked for.
 */
export class Demand {
  readonly #horizonUs: number;
  #perUs = 0;
  #asked = 0;
  #sinceUs: number;

  constructor(horizonUs: number, nowUs: number) {
    this.#horizonUs = horizonUs;
    this.#sinceUs = nowUs;
  }

  /** Units were asked for, given or not. */
  add(units: number): void {
    this.#asked += units;
  }

  perSecond(nowUs: number): number {
    return this.#at(nowUs) * 1e6;
  }

  /** Units that will be asked for within the horizon, if it goes on so. */
  expected(nowUs: number): number {
    return this.#at(nowUs) * this.#horizonUs;
  }

  #at(nowUs: number): number {
    const elapsedUs = nowUs - this.#sinceUs;
    if (elapsedUs < this.#horizonUs) return Math.max(this.#perUs, this.#asked / this.#horizonUs);
    const weight = 2 ** -Math.min(elapsedUs / this.#horizonUs, 50);
    this.#perUs = this.#perUs * weight + (this.#asked / elapsedUs) * (1 - weight);
    this.#asked = 0;
    this.#sinceUs = nowUs;
    return this.#perUs;
  }
}
