import type { Contract } from '../contract.js';
import type { StatedTerms } from '../trace.js';

/** A request to enqueue, in milliseconds. */
export interface Arrival {
  readonly at: number;
  readonly tenant: string;
  readonly priority: number;
  readonly delayMs: number;
  readonly cost: number;
  /** How long the request is on its way, then its answer, then a run until it shows at the referee. */
  readonly sendMs: number;
  readonly replyMs: number;
  readonly showMs: number;
  readonly workMs: number;
  /** So many runs fail before one does not. */
  readonly failures: number;
  /** Its owner cancels it so long after the request. */
  readonly cancelAfterMs: number | null;
}

/** A bucket's contract changed at an instant. */
export interface Retuning {
  readonly at: number;
  readonly tenant: string;
  readonly terms: StatedTerms;
}

/** All that an ideal gate is given. The contract has one type. */
export interface Scenario {
  readonly contract: Contract;
  readonly arrivals: readonly Arrival[];
  readonly changes: readonly Retuning[];
}
