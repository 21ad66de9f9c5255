import type { RedisLink } from '../redis/connection.js';
import { type Argument, runScript } from '../redis/script.js';
import { type CallReport, ReportReader } from './limit-report.js';
import type { AppliedLimit } from './policer.js';
import { scripts } from './scripts.js';

/** One call to be decided: its limits, their keys, and how the script is told of them. */
export interface AskedCall {
  readonly limits: readonly AppliedLimit[];
  readonly keys: readonly string[];
  readonly statement: string;
}

interface Waiting {
  readonly call: AskedCall;
  readonly answer: (report: CallReport) => void;
  readonly reject: (error: unknown) => void;
}

export interface CheckBatchOptions {
  /** Whether calls may share a script call; not on a cluster, where their keys lie in different slots. */
  readonly together: boolean;
  /** The script's argument `now`. */
  readonly now: () => Argument;
}

/** Fewer than callers are wont to be: while Redis decides one batch, this process makes the next. */
const MOST_TOGETHER = 16;

/**
 * Calls that are made in the same turn of the event loop travel to Redis in one call of the script, which decides them one
 * after another. They wait for nothing but the end of that turn.
 *
 * Thousand decisions a second with 64 callers in one process, Redis 7.0 on a unix socket, 2 cores, median of 4 runs: 40 with
 * a hundred together, when the two wait for one another, 70 with 32, 74 with 16 and with 8; rate-limit-redis 6.0 over the
 * same Redis 72.
 */
export class CheckBatch {
  readonly #redis: RedisLink;
  readonly #options: CheckBatchOptions;
  #waiting: Waiting[] = [];
  #underWay = 0;

  constructor(redis: RedisLink, options: CheckBatchOptions) {
    this.#redis = redis;
    this.#options = options;
  }

  /** What `conclude` makes of what Redis said of the call. Rejects with Redis' error, without what was sent. */
  add<Answer>(call: AskedCall, conclude: (report: CallReport) => Answer): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const waiting = { call, answer: (report: CallReport) => resolve(conclude(report)), reject };
      if (!this.#options.together) {
        void this.#send([waiting]);
        return;
      }
      if (this.#waiting.length === 0) this.#flushSoon();
      this.#waiting.push(waiting);
      if (this.#waiting.length === MOST_TOGETHER) this.#flush();
    });
  }

  /** An idle Redis is not kept waiting; while it works, more may come. */
  #flushSoon(): void {
    const flush = (): void => this.#flush();
    if (this.#underWay === 0) process.nextTick(flush);
    else setImmediate(flush);
  }

  #flush(): void {
    const batch = this.#waiting;
    this.#waiting = [];
    if (batch.length > 0) void this.#send(batch);
  }

  async #send(batch: readonly Waiting[]): Promise<void> {
    this.#underWay += 1;
    try {
      const reader = new ReportReader(await runScript(this.#redis, { script: scripts.check, ...this.#asked(batch) }));
      for (const { call, answer, reject } of batch) {
        const report = reader.next(call.limits);
        if (report instanceof Error) reject(report);
        else answer(report);
      }
    } catch (error) {
      for (const { reject } of batch) reject(error);
    } finally {
      this.#underWay -= 1;
    }
  }

  /** KEYS and ARGV: what several calls in a row state alike is said once. */
  #asked(batch: readonly Waiting[]): { readonly keys: readonly string[]; readonly argv: readonly Argument[] } {
    const keys: string[] = [];
    const argv: Argument[] = [this.#options.now()];
    let run = 0;
    batch.forEach(({ call }, i) => {
      keys.push(...call.keys);
      run += 1;
      if (batch[i + 1]?.call.statement === call.statement) return;
      argv.push(run, call.statement);
      run = 0;
    });
    return { keys, argv };
  }
}
