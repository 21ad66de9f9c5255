import { isPassing } from '../../src/redis/outage.js';
import type { Dispatched } from '../../src/shaping/scripts.js';
import type { TypeSource } from '../../src/shaping/type-source.js';
import type { Held, Outcome } from '../../src/shaping/work-source.js';
import type { ShardClocks } from './clocked-redis.js';

const DONE: Outcome = { kind: 'completed', value: '1' };
const FALLBACK_US = 5e6;
const RECOVER_EVERY_US = 1e6;
/** Between two attempts at what got no answer. */
const AGAIN_US = 5000;
const MOST_ATTEMPTS = 200;
/** A job may come back so often. */
const MAX_STALLED = 1000;

interface ProcessOptions {
  readonly slots: number;
  /** How long a job runs. */
  readonly workUs: number;
  readonly clocks: ShardClocks;
  readonly onEnd: (id: string) => void;
}

/** A process with slots of one type, at explicit instants, as workers/runner.ts has it. */
export class TrialProcess {
  readonly source: TypeSource;
  isDead = false;
  readonly #options: ProcessOptions;
  readonly #runs = new Map<string, { readonly held: Held; readonly endsAtUs: number }>();
  #lookAtUs: number;
  #recoverAtUs: number;
  #isFetching = false;

  constructor(source: TypeSource, options: ProcessOptions) {
    this.source = source;
    this.#options = options;
    this.#lookAtUs = options.clocks.nowUs;
    this.#recoverAtUs = options.clocks.nowUs + RECOVER_EVERY_US;
  }

  /** Of what it runs. */
  get tokens(): string[] {
    return [...this.#runs.keys()];
  }

  /** When it has something to do next. */
  get nextUs(): number {
    const ends = [...this.#runs.values()].map(({ endsAtUs }) => endsAtUs);
    return Math.min(this.#recoverAtUs, this.#hasFreeSlot ? this.#lookAtUs : Infinity, ...ends);
  }

  /** Something may be ready. */
  wake(): void {
    this.#lookAtUs = Math.min(this.#lookAtUs, this.#nowUs);
  }

  /** Does what is to be done by now. */
  due(): Promise<void>[] {
    const now = this.#nowUs;
    const ended = [...this.#runs.values()].filter(({ endsAtUs }) => endsAtUs <= now).map(({ held }) => this.#end(held));
    const looks = this.#lookAtUs <= now && this.#hasFreeSlot && !this.#isFetching ? [this.#fill()] : [];
    return [...ended, ...looks, ...(this.#recoverAtUs <= now ? [this.#recover()] : [])];
  }

  get #nowUs(): number {
    return this.#options.clocks.nowUs;
  }

  get #hasFreeSlot(): boolean {
    return this.#runs.size < this.#options.slots;
  }

  async #end(held: Held): Promise<void> {
    // Its slot is taken until it is known what comes next.
    this.#runs.set(held.token, { held, endsAtUs: Infinity });
    const token = this.source.newToken();
    const { verdict, next } = await this.#throughMishaps(() => this.source.settle(held, DONE, token));
    this.#runs.delete(held.token);
    if (verdict === 'settled') this.#options.onEnd(held.id);
    this.#note(token, next);
  }

  async #fill(): Promise<void> {
    this.#isFetching = true;
    this.#lookAtUs = Infinity;
    let found: Dispatched | undefined;
    while (this.#hasFreeSlot && found?.kind !== 'nothing') {
      const token = this.source.newToken();
      found = await this.#throughMishaps(() => this.source.dispatch(token));
      this.#note(token, found);
    }
    this.#isFetching = false;
  }

  #note(token: string, found: Dispatched): void {
    if (found.kind === 'job') {
      const held = { token, tenant: found.tenant, id: found.id };
      this.#runs.set(token, { held, endsAtUs: this.#nowUs + this.#options.workUs });
    } else {
      this.#lookAtUs = Math.min(this.#lookAtUs, this.#nowUs + Math.min(FALLBACK_US, found.waitUs ?? FALLBACK_US));
    }
  }

  async #recover(): Promise<void> {
    this.#recoverAtUs = this.#nowUs + RECOVER_EVERY_US;
    await this.source.recover(MAX_STALLED).catch((error: unknown) => {
      if (!isPassing(error)) throw error;
    });
  }

  async #throughMishaps<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
    for (let attempts = 1; ; attempts += 1) {
      try {
        return await ask();
      } catch (error) {
        if (!isPassing(error) || attempts === MOST_ATTEMPTS) throw error;
        this.#options.clocks.nowUs += AGAIN_US;
      }
    }
  }
}
