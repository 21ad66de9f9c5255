import { orUnavailable } from '../redis/connection.js';
import { isPassing } from '../redis/outage.js';
import type { Subscriber } from '../redis/subscriber.js';
import type { DispatchedJob } from './run-job.js';
import type { TypeSource } from './type-source.js';

interface Waiter {
  readonly token: string;
  readonly answer: (job: DispatchedJob | undefined) => void;
  readonly refuse: (error: unknown) => void;
}

/** However quiet it is, who waits is looked after by then: a wake-up may get lost. */
const FALLBACK_MS = 5000;

/**
 * Where workers elsewhere wait for the jobs of one type, and are served in the order in which they came. However many
 * wait, there is one subscription, one timer and one dispatch under way; while nobody waits, Redis is asked nothing.
 *
 * A job whose caller left while it was on its way goes back. A crash leaves it to the recoverer.
 */
export class ClaimQueue {
  readonly #source: TypeSource;
  readonly #onError: (error: unknown) => void;
  readonly #waiting = new Set<Waiter>();
  readonly #unsubscribe: () => void;
  #serving: Promise<void> | undefined;
  #again = false;
  #timer: NodeJS.Timeout | undefined;
  #timerAt = Infinity;

  constructor(source: TypeSource, subscriber: Subscriber, onError: (error: unknown) => void) {
    this.#source = source;
    this.#onError = onError;
    this.#unsubscribe = source.listen(subscriber, () => this.wake());
  }

  /** How many wait. */
  get length(): number {
    return this.#waiting.size;
  }

  /**
   * The fairest ready job, under a token that is new to every claim; the same token is answered with the same job while
   * that runs. Waits until `signal` aborts, and then answers `undefined`. Rejects while Redis is away.
   */
  async claim(token: string, signal: AbortSignal): Promise<DispatchedJob | undefined> {
    // What is held under the token already is not waited for, and of several shards somebody must know which has it.
    if ((this.#waiting.size > 0 || this.#source.isSpread) && (await this.#holds(token))) return this.#dispatch(token);
    if (signal.aborted) return undefined;
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        this.#waiting.delete(waiter);
        signal.removeEventListener('abort', leave);
        if (this.#waiting.size === 0) this.#forgetTimer();
        resolve(undefined);
      };
      const waiter: Waiter = {
        token,
        answer: (job) => {
          resolve(job);
          leave();
        },
        refuse: (error) => {
          reject(error);
          leave();
        },
      };
      this.#waiting.add(waiter);
      signal.addEventListener('abort', leave, { once: true });
      this.wake();
    });
  }

  /** Something may be ready: look now, or as soon as the look under way is over. */
  wake(): void {
    if (this.#waiting.size === 0) return;
    if (this.#serving) this.#again = true;
    else this.#serving = this.#serve();
  }

  /** Answers everybody with nothing. Resolves when no dispatch is under way. */
  async close(): Promise<void> {
    this.#unsubscribe();
    for (const waiter of [...this.#waiting]) waiter.answer(undefined);
    this.#forgetTimer();
    await this.#serving;
  }

  async #serve(): Promise<void> {
    do {
      this.#again = false;
      try {
        await this.#serveInOrder();
      } catch (error) {
        for (const waiter of [...this.#waiting]) waiter.refuse(error);
      }
    } while (this.#again && this.#waiting.size > 0);
    this.#serving = undefined;
  }

  async #serveInOrder(): Promise<void> {
    for (const waiter of this.#waiting) {
      const found = await orUnavailable(() => this.#source.dispatch(waiter.token));
      if (found.kind === 'nothing') return this.#waitFor(found.waitUs);
      if (this.#waiting.has(waiter)) waiter.answer(found);
      else await this.#giveBack(waiter.token, found);
    }
  }

  async #giveBack(token: string, { tenant, id }: DispatchedJob): Promise<void> {
    try {
      await this.#source.settle({ token, tenant, id }, { kind: 'return', value: 'whoever claimed it had left' });
    } catch (error) {
      // Its lock runs out, and the recoverer brings it back.
      if (!isPassing(error)) this.#onError(error);
    }
  }

  #holds(token: string): Promise<boolean> {
    return orUnavailable(() => this.#source.holds(token));
  }

  async #dispatch(token: string): Promise<DispatchedJob | undefined> {
    const found = await orUnavailable(() => this.#source.dispatch(token));
    return found.kind === 'job' ? found : undefined;
  }

  #waitFor(waitUs: number | null): void {
    if (this.#waiting.size === 0) return;
    // A timer of Node may fire up to a millisecond early, and an early look finds nothing.
    const waitMs = waitUs === null ? FALLBACK_MS : Math.min(FALLBACK_MS, Math.ceil(waitUs / 1000));
    const at = performance.now() + waitMs;
    if (at >= this.#timerAt) return;
    this.#forgetTimer();
    this.#timerAt = at;
    this.#timer = setTimeout(() => {
      this.#timerAt = Infinity;
      this.wake();
    }, waitMs);
  }

  #forgetTimer(): void {
    clearTimeout(this.#timer);
    this.#timerAt = Infinity;
  }
}
