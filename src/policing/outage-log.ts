/** The part of a pino logger that is used here. */
export interface OutageLogger {
  warn(detail: object, message: string): void;
  info(detail: object, message: string): void;
}

export interface OutageLogOptions {
  readonly logger: OutageLogger | undefined;
  /** Monotonic milliseconds. */
  readonly now: () => number;
  /** An outage is over when the policer decides again and has not failed for so long. */
  readonly quietMs: number;
  /** What is logged when it begins and when it is over. */
  readonly begins: string;
  readonly ends: string;
}

/** Tells of outages: once when one begins, and once when it is over, with how many decisions were taken without Redis. */
export class OutageLog {
  readonly #options: OutageLogOptions;
  #outage: { readonly beganAt: number; lastAt: number; decisions: number } | undefined;

  constructor(options: OutageLogOptions) {
    this.#options = options;
  }

  /** A decision of `policy` was taken without its policer; `error` is what that said, if it was asked. */
  stoodIn(policy: string, error?: unknown): void {
    this.failed(policy, error).decisions += 1;
  }

  /** The policer of `policy` failed at something. */
  failed(policy: string, error: unknown): { decisions: number } {
    const now = this.#options.now();
    if (this.#outage === undefined) {
      this.#outage = { beganAt: now, lastAt: now, decisions: 0 };
      this.#options.logger?.warn({ policy, reason: reasonOf(error) }, this.#options.begins);
    }
    this.#outage.lastAt = now;
    return this.#outage;
  }

  /** A policer decided. */
  answered(): void {
    if (this.#outage === undefined) return;
    const { beganAt, lastAt, decisions } = this.#outage;
    if (this.#options.now() - lastAt < this.#options.quietMs) return;
    this.#outage = undefined;
    this.#options.logger?.info({ decisions, lastedMs: Math.round(lastAt - beganAt) }, this.#options.ends);
  }
}

/** What went wrong, with its cause; without anything that was sent to Redis. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
}
