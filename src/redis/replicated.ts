import type { Redis } from 'ioredis';
import { RedisUnavailable } from './outage.js';
import { withoutArguments } from './private-error.js';
import {
  type Answer,
  isUnknownFunction,
  loadLibrary,
  MAX_LOADS,
  NO_ANSWER,
  pipeline,
  type ScriptCall,
  watched,
} from './script.js';

export interface ReplicationTerms {
  /** Replicas that have to hold what was written. */
  readonly replicas: number;
  /** How long they may take, in milliseconds; below the connection's own deadline. */
  readonly withinMs: number;
}

interface Waiting {
  readonly call: ScriptCall<unknown>;
  /** Times that its library has been loaded for it. */
  loads: number;
  readonly take: (answer: Answer, replicas: number) => void;
}

/** Calls that wait for their replicas together. */
const MOST_TOGETHER = 64;

/**
 * Runs scripts whose writes count only once replicas hold them (WAIT): where too few do in time, the call rejects with
 * {@link RedisUnavailable} though it was done, and may be repeated as after any lost answer.
 *
 * Scripts and WAIT travel down one connection in one piece, so what WAIT speaks of is what the very same server wrote: a
 * connection that was opened anew may lead to another master, which never saw it. WAIT holds up what comes behind it on its
 * connection, so this takes one of its own, and calls that come while replicas are waited for go together.
 */
export class ReplicatedScripts {
  readonly #redis: Redis;
  readonly #terms: ReplicationTerms;
  #waiting: Waiting[] = [];
  #isUnderWay = false;

  /** The connection is nobody else's, and the opener's to close. */
  constructor(redis: Redis, terms: ReplicationTerms) {
    this.#redis = redis;
    this.#terms = terms;
  }

  run<Reply>(call: ScriptCall<Reply>): Promise<Reply> {
    const run = new Promise<Reply>((resolve, reject) => {
      const take: Waiting['take'] = ([error, reply], replicas) => {
        if (error) reject(withoutArguments(error));
        else if (replicas < this.#terms.replicas) reject(this.#tooFew(replicas));
        else resolve(call.script.parse(reply));
      };
      this.#waiting.push({ call, loads: 0, take });
    });
    if (!this.#isUnderWay) void this.#go();
    return watched(this.#redis, [call], () => run);
  }

  async #go(): Promise<void> {
    this.#isUnderWay = true;
    // Calls of the same tick travel along.
    await null;
    while (this.#waiting.length > 0) await this.#send(this.#waiting.splice(0, MOST_TOGETHER));
    this.#isUnderWay = false;
  }

  /** Never rejects. */
  async #send(batch: readonly Waiting[]): Promise<void> {
    const { replicas, withinMs } = this.#terms;
    try {
      const calls = batch.map(({ call }) => call);
      const answers = await pipeline(this.#redis, calls, (further) => further.wait(replicas, withinMs));
      const [refused, reached] = answers[batch.length] ?? NO_ANSWER;
      if (refused) throw withoutArguments(refused);
      const unknown = batch.filter((each, i) => isUnknownFunction(answers[i]?.[0]) && each.loads < MAX_LOADS);
      batch.forEach((each, i) => {
        if (!unknown.includes(each)) each.take(answers[i] ?? NO_ANSWER, Number(reached));
      });
      await this.#again(unknown);
    } catch (error) {
      const failure = error instanceof Error ? error : new Error(String(error));
      for (const { take } of batch) take([failure], 0);
    }
  }

  /** What Redis did not know had not begun. */
  async #again(unknown: readonly Waiting[]): Promise<void> {
    for (const library of new Set(unknown.map(({ call }) => call.script.library))) {
      await loadLibrary(this.#redis, library);
    }
    for (const each of unknown) each.loads += 1;
    this.#waiting.unshift(...unknown);
  }

  #tooFew(replicas: number): RedisUnavailable {
    const { replicas: wanted, withinMs } = this.#terms;
    return new RedisUnavailable(`${replicas} of ${wanted} replicas held what was written within ${withinMs} ms`);
  }
}
