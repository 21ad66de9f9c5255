import type { Reading } from './policer.js';

/** Who calls, as far as it was proven: a tenant by its key, or else an address as `clientAddress` writes it. */
export interface Caller {
  readonly tenant?: string;
  /** The tenant's tier, or one that a trusted gateway named; without either, `anonymous`. */
  readonly tier?: string;
  readonly address?: string;
  /** A name within the tenant (or within the policy, when a gateway vouches for it): a user of the caller's own. */
  readonly key?: string;
}

/** One request for a decision. */
export interface PolicingRequest {
  /** One that {@link Policing.has} knows. */
  readonly policy: string;
  readonly caller: Caller;
  /** 1e-6 to 1e9. */
  readonly cost: number;
  readonly peek?: boolean;
}

/** A limit of the policy and what is left of it. */
export type LimitState = Reading;

/** What a policy says of a call. */
export interface Decision {
  readonly policy: string;
  /** Whether the caller may go on. */
  readonly allowed: boolean;
  /**
   * - `conforming`: within every limit.
   * - `limited`: above one; a later call passes.
   * - `cost_exceeds_max`: above what can ever pass.
   * - `unknown`: Redis is away, and the policy lets pass or refuses without looking (`onOutage: open | closed`).
   */
  readonly outcome: 'conforming' | 'limited' | 'cost_exceeds_max' | 'unknown';
  /** `policer`, or what stood in for it while Redis was away. */
  readonly decidedBy: 'policer' | 'open' | 'closed' | 'local';
  /** False with `enforce: false`: then `allowed` is true whatever the outcome. */
  readonly enforced: boolean;
  /** Milliseconds after which the call passes, spread upwards by the policy's `retryJitter`; `null` when never, 0 when allowed. */
  readonly retryAfterMs: number | null;
  /** Every limit of the caller; empty where nobody knows. */
  readonly limits: readonly LimitState[];
  /** The limit that refused, or the one nearest to refusing; absent where nobody knows. */
  readonly nearest?: LimitState;
  /** The greatest cost that can pass; with `cost_exceeds_max`. */
  readonly max?: number;
  /** Gives back what was charged, for a call that was refused further on. Never rejects. */
  giveBack(): Promise<void>;
}

/** How many decisions of each kind a policy has come to in this process. */
export interface DecisionCount {
  readonly policy: string;
  readonly outcome: Decision['outcome'];
  readonly decidedBy: Decision['decidedBy'];
  readonly allowed: boolean;
  readonly count: number;
}

/** The policies of a configuration, ready to decide. */
export interface Policing {
  /** Whether there is a policy of this name. */
  has(policy: string): boolean;
  /** Never rejects and never hangs: when Redis does not answer in time, the policy's `onOutage` decides. */
  decide(request: PolicingRequest): Promise<Decision>;
  /** Decisions so far, by policy, outcome and who decided. */
  counts(): readonly DecisionCount[];
  /** Gives back leases and stops. Does not close the Redis it was given. */
  close(): Promise<void>;
}
