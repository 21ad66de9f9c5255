/** Something that reads one image at a time. */
export interface Engine {
  recognize(image: Uint8Array): Promise<{ readonly text: string; readonly confidence: number }>;
  /** Ends it at once, whatever it is doing. */
  close(): Promise<void>;
}

/**
 * Engines for jobs that run at the same time.
 *
 * An engine is opened when a job finds none idle, belongs to that job alone until it ends, and is then kept for the
 * next. An engine whose job failed or was told to stop is closed and not used again: its state is not known. After
 * `close` every engine is gone, busy ones included, and none is opened.
 */
export class EnginePool {
  readonly #open: () => Promise<Engine>;
  readonly #idle: Engine[] = [];
  readonly #all = new Set<Engine>();
  #closed = false;

  constructor(open: () => Promise<Engine>) {
    this.#open = open;
  }

  /**
   * Runs `work` with an engine of its own. Rejects with the signal's reason as soon as that aborts, but lets an engine
   * that is just opening come up first.
   */
  async use<T>(signal: AbortSignal, work: (engine: Engine) => Promise<T>): Promise<T> {
    signal.throwIfAborted();
    const engine = this.#idle.pop() ?? (await this.#opened());
    try {
      const result = await untilAborted(signal, () => work(engine));
      if (!this.#closed) this.#idle.push(engine);
      return result;
    } catch (error) {
      await this.#retire(engine);
      throw error;
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#idle.length = 0;
    await Promise.all([...this.#all].map((engine) => this.#retire(engine)));
  }

  async #opened(): Promise<Engine> {
    if (!this.#closed) {
      const engine = await this.#open();
      this.#all.add(engine);
      if (!this.#closed) return engine;
      await this.#retire(engine);
    }
    throw new Error('the engines are closed');
  }

  async #retire(engine: Engine): Promise<void> {
    this.#all.delete(engine);
    await engine.close();
  }
}

async function untilAborted<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  signal.throwIfAborted();
  let onAbort = (): void => undefined;
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
  });
  try {
    return await Promise.race([work(), aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
