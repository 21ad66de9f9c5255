/** What is to be done, since somebody rang. */
export interface Rung {
  /** The job is to be looked at. */
  readonly look: boolean;
  /** Its output is to be read on. */
  readonly output: boolean;
  /** There is nobody left to tell. */
  readonly over: boolean;
}

/** Wakes the one who follows a job. What is rung while he is busy is kept, and the same thing only once. */
export class Bell {
  #look = false;
  #output = false;
  #over = false;
  #answer: (() => void) | undefined;

  /** Rings for an event of the job as a feed tells it; `undefined` stands for anything. */
  ring(event: string | undefined): void {
    this.#look ||= event !== 'output';
    this.#output ||= event === undefined || event === 'output';
    this.#answer?.();
  }

  /** Rings for the last time. */
  end(): void {
    this.#over = true;
    this.#answer?.();
  }

  /** What was rung for since the last time; waits for that, at most `withinMs`. */
  async next(withinMs: number): Promise<Rung> {
    if (!this.#look && !this.#output && !this.#over) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, withinMs);
        this.#answer = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      this.#answer = undefined;
    }
    const rung = { look: this.#look, output: this.#output, over: this.#over };
    this.#look = false;
    this.#output = false;
    return rung;
  }
}
