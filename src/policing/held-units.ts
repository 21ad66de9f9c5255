/** Units that were taken at one time. */
export interface Batch {
  /** Not used yet. */
  units: number;
  /** From then on they are not used any more. */
  untilUs: number;
  /** What Redis said of them when it gave them; comes back with them. */
  tatUs: number;
}

/** Units that go back to Redis, and what it said of them. */
export type Returned = Pick<Batch, 'units' | 'tatUs'>;

/**
 * Units that a process took in advance. The older ones are used first, and none after its lease has run out: then they are
 * no longer held but to be returned, as those are that somebody surrenders. What is on the list of returns is handed out
 * once, and forgotten: whether it arrives or not, nobody uses it here again.
 */
export class HeldUnits {
  #older: Batch | undefined;
  #newer: Batch | undefined;
  #returns: Returned[] = [];
  #owed = 0;

  /** Units that may be used now. */
  count(nowUs: number): number {
    if (this.#newer === undefined) return 0;
    if (this.#newer.untilUs <= nowUs) this.surrender();
    if (this.#older !== undefined && this.#older.untilUs <= nowUs) this.#surrenderOlder();
    return (this.#newer?.units ?? 0) + (this.#older?.units ?? 0);
  }

  /** Whether there is anything to return. */
  get owes(): boolean {
    return this.#returns.length > 0;
  }

  /** Units that are to be returned. */
  get owed(): number {
    return this.#owed;
  }

  add(batch: Batch): void {
    const { newer, older } = { newer: this.#newer, older: this.#older };
    if (newer !== undefined) {
      const untilUs = older && older.units > 0 ? Math.min(older.untilUs, newer.untilUs) : newer.untilUs;
      const tatUs = older && older.units > 0 ? Math.min(older.tatUs, newer.tatUs) : newer.tatUs;
      this.#older = { units: newer.units + (older?.units ?? 0), untilUs, tatUs };
    }
    this.#newer = batch;
  }

  /** Uses units that `count` has just said are there; answers the batch to {@link putBack} them into. */
  use(cost: number): Batch | undefined {
    const older = this.#older;
    if (older !== undefined) {
      const used = Math.min(older.units, cost);
      older.units -= used;
      cost -= used;
      if (cost <= 0) return older;
      this.#older = undefined;
    }
    // What a call may miss by is owed by the batch that comes next.
    if (this.#newer !== undefined) this.#newer.units -= cost;
    return this.#newer;
  }

  /** Undoes {@link use}: for the next call, or for Redis when the batch is gone. */
  putBack(batch: Batch, units: number, nowUs: number): void {
    if (nowUs >= batch.untilUs) this.#return({ units, tatUs: batch.tatUs });
    else if (batch === this.#newer || batch === this.#older) batch.units += units;
    else this.#return({ units, tatUs: batch.tatUs });
  }

  /** No longer uses what it holds from a lease that ends by `untilUs`. */
  surrenderEndingBy(untilUs: number): void {
    if (this.#newer !== undefined && this.#newer.untilUs <= untilUs) this.surrender();
    else if (this.#older !== undefined && this.#older.untilUs <= untilUs) this.#surrenderOlder();
  }

  /** No longer uses anything of what it holds. */
  surrender(): void {
    if (this.#newer !== undefined) this.#return(this.#newer);
    this.#newer = undefined;
    this.#surrenderOlder();
  }

  /** What is to be returned, the latest first. It is not handed out again. */
  takeReturns(): readonly Returned[] {
    const returns = this.#returns;
    this.#returns = [];
    this.#owed = 0;
    return returns.sort((a, b) => b.tatUs - a.tatUs);
  }

  #surrenderOlder(): void {
    if (this.#older !== undefined) this.#return(this.#older);
    this.#older = undefined;
  }

  #return({ units, tatUs }: Returned): void {
    if (units <= 0) return;
    this.#owed += units;
    const same = this.#returns.findIndex((returned) => returned.tatUs === tatUs);
    const already = this.#returns[same]?.units ?? 0;
    this.#returns.splice(same < 0 ? this.#returns.length : same, 1, { units: already + units, tatUs });
  }
}
