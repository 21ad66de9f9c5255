import { HeadgateError } from './headgate-error.js';

/** How long one call may take. */
export interface CallOptions {
  /** Ends the call: it rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds for the whole call, its repetitions included; then it rejects with `deadline_exceeded`. */
  readonly deadlineMs?: number | undefined;
}

/** What a timer can hold, in milliseconds. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** What one call has left of its caller's patience. */
export class Patience {
  readonly #endsAtMs: number;
  readonly #signal: AbortSignal | undefined;
  readonly #deadlineMs: number;

  constructor({ signal, deadlineMs = Infinity }: CallOptions) {
    this.#signal = signal;
    this.#deadlineMs = deadlineMs;
    this.#endsAtMs = performance.now() + deadlineMs;
  }

  /** Milliseconds; 0 when it is over. */
  get leftMs(): number {
    return Math.max(0, this.#endsAtMs - performance.now());
  }

  /** @throws The reason of the caller's signal, or HeadgateError `deadline_exceeded`. */
  throwIfOver(jobId?: string, cause?: unknown): void {
    this.#signal?.throwIfAborted();
    if (this.leftMs > 0) return;
    throw new HeadgateError(`not done within ${this.#deadlineMs} ms`, { code: 'deadline_exceeded', jobId, cause });
  }

  /** For a part of the call, which may take `ms` at most. */
  signal(ms = Infinity): AbortSignal {
    const withinMs = Math.min(ms, this.leftMs);
    return AbortSignal.any([
      ...(this.#signal === undefined ? [] : [this.#signal]),
      ...(withinMs > LONGEST_TIMER_MS ? [] : [AbortSignal.timeout(Math.ceil(withinMs))]),
    ]);
  }

  /** Resolves after `ms`, sooner when there is no patience left. */
  async sleep(ms: number): Promise<void> {
    const signal = this.#signal;
    if (signal?.aborted) return;
    await new Promise<void>((resolve) => {
      const wake = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', wake);
        resolve();
      };
      const timer = setTimeout(wake, Math.min(ms, this.leftMs, LONGEST_TIMER_MS));
      signal?.addEventListener('abort', wake);
    });
  }
}
