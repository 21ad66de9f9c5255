/** Tells those who would stay connected that the server closes. Tens of thousands may listen: each comes and goes in no time. */
export class Closing {
  readonly #listeners = new Set<() => void>();
  #begun = false;

  get begun(): boolean {
    return this.#begun;
  }

  /** Calls `listener` when the server closes; returns how to take that back. */
  onBegin(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  begin(): void {
    this.#begun = true;
    for (const listener of [...this.#listeners]) listener();
  }
}
