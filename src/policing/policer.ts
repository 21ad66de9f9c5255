import type { Limit } from '../model/limit.js';

/** A limit as it applies to one call. */
export interface AppliedLimit {
  readonly limit: Limit;
  /**
   * Whose calls count together: made by `subjectOf`, at most some 200 bytes, the same for two calls only if they share
   * the limit. It says which policy, limit and algorithm too.
   */
  readonly subject: string;
  /**
   * What a policer found by the subject, for the next call of the same caller: where this is declared, be it `undefined`, a
   * policer that keeps its buckets in the process leaves one here. It tells its own from those of others.
   */
  found?: object | undefined;
}

/** One call at the door of a policy. */
export interface Check {
  /** Decided together: refused by one, charged to none. Without any, every call conforms. */
  readonly limits: readonly AppliedLimit[];
  /** Units that the call takes from each limit; above 0, may be a fraction. */
  readonly cost: number;
  /** Asks without taking anything: nothing is changed, nothing is stored. */
  readonly peek: boolean;
}

/** What a limit holds for its subject after the decision. */
export interface Reading {
  /** As it was kept: where a policer keeps a share of each limit, that share. */
  readonly limit: Limit;
  /** Units that would pass now; 0 or more, may be a fraction. */
  readonly remaining: number;
  /** Milliseconds until one unit more would pass; 0 when the limit is whole. */
  readonly nextUnitMs: number;
}

/** The call passes, and was charged. */
export interface Conforming {
  readonly verdict: 'conforming';
  readonly readings: readonly Reading[];
  /** Gives back what was taken, when what the call was let through for did not happen. Call it once at most. */
  giveBack(): void | Promise<void>;
}

/** `readings` are in the order of the check's limits. */
export type PolicerVerdict =
  | Conforming
  | {
      readonly verdict: 'limited';
      readonly readings: readonly Reading[];
      /** Index of the limit that is the last to let this call through. */
      readonly limitedBy: number;
      /** Milliseconds, rounded up: the same call passes then if nobody else takes anything. */
      readonly retryAfterMs: number;
    }
  | {
      readonly verdict: 'cost_exceeds_max';
      /** Index of the limit whose quota is below the cost. */
      readonly limitedBy: number;
      /** The greatest cost that can ever pass. */
      readonly max: number;
    };

/**
 * Decides whether calls conform to limits: now or not at all. The laws that hold for every policer are a table in
 * test/policing. A policer whose limits stand in Redis rejects when Redis does not answer; what then happens is for the
 * policy to say, not for it.
 */
export interface Policer {
  /** Synchronous where nobody has to be asked. */
  check(check: Check): PolicerVerdict | Promise<PolicerVerdict>;
  /** Gives back what it holds for later and stops. */
  close(): void | Promise<void>;
}
