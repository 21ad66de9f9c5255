import { OutputBudget } from './output-budget.js';

/** What is emitted meanwhile goes together: 40 times a second is faster than anybody reads. */
const GATHER_MS = 25;
/** Chunks in one call, at most: Redis serves nobody else meanwhile. */
const BATCH = 1000;
/** With so much on its way, in characters, a handler that waits is held up until it has arrived. */
const MUCH = 64 * 1024;
/** Joined texts are no longer than this: JSON may need six bytes for one character, and a chunk has at most 64 KB. */
const LONGEST_TEXT = 10 * 1024;

/** Texts that follow one another are one chunk; other values are JSON already, and a chunk each. */
type Piece = { readonly kind: 'text'; text: string } | { readonly kind: 'json'; readonly json: string };

/**
 * The output of one run on its way to Redis: gathered for a moment, then sent, one batch at a time and in order. Nothing of
 * it is lost or sent twice, however often a batch has to be repeated, since its chunks are numbered.
 */
export class Output {
  readonly #send: (first: number, chunks: readonly string[]) => Promise<unknown>;
  readonly #budget = new OutputBudget();
  #pieces: Piece[] = [];
  #waiting = 0;
  #sent = 0;
  #flushing: Promise<void> | undefined;
  #hurry: (() => void) | undefined;

  /** @param send Brings chunks to Redis, JSON each, however long that takes; `first` is the number of the first one, from 1. */
  constructor(send: (first: number, chunks: readonly string[]) => Promise<unknown>) {
    this.#send = send;
  }

  /**
   * Adds a chunk. Resolves at once unless much is on its way already: then when that has arrived, or could not be brought.
   *
   * @throws TypeError At once, for what is no JSON, or too much of it.
   */
  emit(chunk: unknown): Promise<void> {
    const json = this.#budget.take(chunk);
    this.#add(chunk, json);
    this.#waiting += json.length;
    this.#flushing ??= this.#flush();
    // Who does not wait for it does not hear of its failure either: the runner does.
    this.#flushing.catch(() => undefined);
    return this.#waiting > MUCH ? this.#flushing : Promise.resolve();
  }

  /** Sends what is there without waiting for more; resolves when nothing is under way any more. */
  async done(): Promise<void> {
    while (this.#flushing !== undefined) {
      this.#hurry?.();
      await this.#flushing.catch(() => undefined);
    }
  }

  #add(chunk: unknown, json: string): void {
    if (typeof chunk !== 'string') return void this.#pieces.push({ kind: 'json', json });
    const last = this.#pieces.at(-1);
    const joins = last?.kind === 'text' && last.text.length + chunk.length <= LONGEST_TEXT;
    if (joins) last.text += chunk;
    else this.#pieces.push({ kind: 'text', text: chunk });
  }

  async #flush(): Promise<void> {
    try {
      await this.#gather();
      while (this.#pieces.length > 0) {
        const pieces = this.#pieces.splice(0, BATCH);
        const first = this.#sent + 1;
        this.#sent += pieces.length;
        this.#waiting = 0;
        await this.#send(
          first,
          pieces.map((piece) => (piece.kind === 'text' ? JSON.stringify(piece.text) : piece.json)),
        );
      }
    } finally {
      this.#flushing = undefined;
    }
  }

  #gather(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, GATHER_MS);
      this.#hurry = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
