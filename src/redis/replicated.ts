import { setTimeout as pause } from 'node:timers/promises';
import type { RedisLink } from './connection.js';
import { isCluster } from './masters.js';
import { isRefusedByCluster, RedisUnavailable } from './outage.js';
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
  /** Times that it was refused before it had begun. */
  refusals: { unknown: number; byCluster: number };
  readonly take: (answer: Answer, replicas: number) => void;
}

/** Calls that wait for their replicas together. */
const MOST_TOGETHER = 64;
/** Between two tries of what a master of a cluster refused, and how many there are. */
const AGAIN_MS = 100;
const MOST_AGAIN = 10;

/**
 * Runs scripts whose writes count only once replicas hold them (WAIT): where too few do in time, the call rejects with
 * {@link RedisUnavailable} though it was done, and may be repeated as after any lost answer.
 *
 * Scripts and WAIT travel down one connection in one piece, so what WAIT speaks of is what the very same server wrote: a
 * connection that was opened anew may lead to another master, which never saw it. WAIT holds up what comes behind it on its
 * connection, so this takes one of its own, and calls that come while replicas are waited for go together: on a cluster those of a
 * shard, which one master has.
 */
export class ReplicatedScripts {
  readonly #redis: RedisLink;
  readonly #terms: ReplicationTerms;
  readonly #lanes = new Map<string, Lane>();

  /** The connection is nobody else's, and the opener's to close. */
  constructor(redis: RedisLink, terms: ReplicationTerms) {
    this.#redis = redis;
    this.#terms = terms;
  }

  run<Reply>(call: ScriptCall<Reply>): Promise<Reply> {
    const place = isCluster(this.#redis) ? ('tag' in call ? call.tag : call.keys.join()) : '';
    const lane = this.#lanes.get(place) ?? new Lane(this.#redis, this.#terms);
    this.#lanes.set(place, lane);
    return lane.run(call);
  }
}

/** Calls that go down one connection. */
class Lane {
  readonly #redis: RedisLink;
  readonly #terms: ReplicationTerms;
  #waiting: Waiting[] = [];
  #isUnderWay = false;

  constructor(redis: RedisLink, terms: ReplicationTerms) {
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
      this.#waiting.push({ call, refusals: { unknown: 0, byCluster: 0 }, take });
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
      const unknown = batch.filter(
        (each, i) => isUnknownFunction(answers[i]?.[0]) && ++each.refusals.unknown <= MAX_LOADS,
      );
      const moving = batch.filter(
        (each, i) => isRefusedByCluster(answers[i]?.[0]) && ++each.refusals.byCluster <= MOST_AGAIN,
      );
      batch.forEach((each, i) => {
        if (!unknown.includes(each) && !moving.includes(each)) each.take(answers[i] ?? NO_ANSWER, Number(reached));
      });
      await this.#again(unknown, moving);
    } catch (error) {
      const failure = error instanceof Error ? error : new Error(String(error));
      for (const { take } of batch) take([failure], 0);
    }
  }

  /** What Redis did not know, or refused, had not begun. */
  async #again(unknown: readonly Waiting[], moving: readonly Waiting[]): Promise<void> {
    for (const library of new Set(unknown.map(({ call }) => call.script.library))) {
      await loadLibrary(this.#redis, library);
    }
    if (moving.length > 0) {
      if (isCluster(this.#redis)) this.#redis.refreshSlotsCache();
      await pause(AGAIN_MS);
    }
    this.#waiting.unshift(...unknown, ...moving);
  }

  #tooFew(replicas: number): RedisUnavailable {
    const { replicas: wanted, withinMs } = this.#terms;
    return new RedisUnavailable(`${replicas} of ${wanted} replicas held what was written within ${withinMs} ms`);
  }
}
