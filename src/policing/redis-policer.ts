import type { RedisLink } from '../redis/connection.js';
import { limitKeys } from '../redis/keys.js';
import { runScript } from '../redis/script.js';
import { callStatement } from './call-statement.js';
import { type AskedCall, CheckBatch } from './check-batch.js';
import type { CallReport } from './limit-report.js';
import type { AppliedLimit, Check, Policer, PolicerVerdict } from './policer.js';
import { scripts } from './scripts.js';
import { tooDear } from './too-dear.js';

export interface RedisPolicerOptions {
  /**
   * Whether the Redis is a cluster: then the keys of one call share a slot, and every call is asked for by itself. False
   * unless given.
   */
  readonly isCluster?: boolean;
  /** Whole microseconds since 2025-01-01, for tests; the server's own clock unless given. */
  readonly now?: () => number;
}

const NOTHING_TAKEN = async (): Promise<void> => undefined;

/**
 * Limits that stand in Redis, shared by every process: token bucket, sliding-window log and sliding-window counter. The
 * server's clock decides, and a script decides about all limits of a call together.
 *
 * Calls of the same tick travel together (see {@link CheckBatch}). A call is decided once or rejects with Redis' error; it
 * is never sent again after an outcome that nobody knows, so what Redis may have charged stays charged.
 */
export class RedisPolicer implements Policer {
  readonly #redis: RedisLink;
  readonly #isCluster: boolean;
  readonly #now: (() => number) | undefined;
  readonly #batch: CheckBatch;

  /** The connection stays its opener's to close. */
  constructor(redis: RedisLink, { isCluster = false, now }: RedisPolicerOptions = {}) {
    this.#redis = redis;
    this.#isCluster = isCluster;
    this.#now = now;
    this.#batch = new CheckBatch(redis, { now: () => this.#instant(), together: !isCluster });
  }

  /** @throws RangeError for a cost that is not above 0 and finite. */
  check({ limits, cost, peek }: Check): PolicerVerdict | Promise<PolicerVerdict> {
    if (!(cost > 0 && cost < Infinity)) throw new RangeError(`cost must be above 0 and finite, got ${cost}`);
    const dear = tooDear(limits, cost);
    if (dear) return dear;
    if (limits.length === 0) return { verdict: 'conforming', readings: [], giveBack: NOTHING_TAKEN };
    return this.#ask(limits, cost, peek);
  }

  /** Holds nothing for later. */
  close(): void {}

  #ask(limits: readonly AppliedLimit[], cost: number, peek: boolean): Promise<PolicerVerdict> {
    const call = { limits, keys: limitKeys(limits, this.#isCluster), statement: callStatement(limits, cost, peek) };
    return this.#batch.add(call, (report) => {
      const { readings } = report;
      if (!report.conforming) return { verdict: 'limited', readings, ...lastToLetThrough(report) };
      return { verdict: 'conforming', readings, giveBack: peek ? NOTHING_TAKEN : this.#giveBackOnce(call, report) };
    });
  }

  #giveBackOnce({ keys, statement }: AskedCall, { atUs, heldNs }: CallReport): () => Promise<void> {
    let given = false;
    return async () => {
      if (given) return;
      given = true;
      const argv = [this.#instant(), atUs, statement, ...heldNs];
      await runScript(this.#redis, { script: scripts.refund, keys, argv });
    };
  }

  #instant(): string | number {
    return this.#now?.() ?? '';
  }
}

/** Each limit lets the call through when it has waited so long, and goes on to: the longest wait is that of the call. */
function lastToLetThrough({ waitsUs }: CallReport): { readonly limitedBy: number; readonly retryAfterMs: number } {
  const longestUs = Math.max(...waitsUs);
  return { limitedBy: waitsUs.indexOf(longestUs), retryAfterMs: Math.max(1, Math.ceil(longestUs / 1000)) };
}
