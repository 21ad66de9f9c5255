import { asInteger } from '../redis/reply.js';
import type { Reading } from './policer.js';

/** What `lua/check.lua` says of one limit. */
export interface LimitReport {
  readonly reading: Reading;
  /** Until the call passes; 0 when this limit lets it pass now. */
  readonly waitUs: number;
  /** Of a bucket: nanoseconds in which what it held right after the call leaks away. */
  readonly heldNs: number;
}

/** What it says of one call, for all of its limits. */
export interface CallReport {
  readonly conforming: boolean;
  /** The instant of the decision: microseconds since 2025-01-01. */
  readonly atUs: number;
  readonly limits: readonly LimitReport[];
}

const VERDICTS = { conforming: 1, failed: -1 } as const;

/** Reads a flat reply call by call; each caller knows how many limits it asked about. */
export class ReportReader {
  readonly #reply: readonly unknown[];
  readonly #atUs: number;
  #next = 1;

  constructor(reply: readonly unknown[]) {
    this.#reply = reply;
    this.#atUs = asInteger(reply[0]);
  }

  /** The report on the next call, or the error that Redis met when it looked at that call's keys. */
  next(limitCount: number): CallReport | Error {
    const verdict = this.#integer();
    if (verdict === VERDICTS.failed) return new Error(String(this.#reply[this.#next++]));
    const limits: LimitReport[] = [];
    for (let i = 0; i < limitCount; i += 1) limits.push(this.#limit());
    return { conforming: verdict === VERDICTS.conforming, atUs: this.#atUs, limits };
  }

  #limit(): LimitReport {
    const remaining = this.#integer() / 1e6;
    const nextUnitMs = this.#integer() / 1000;
    return { reading: { remaining, nextUnitMs }, waitUs: this.#integer(), heldNs: this.#integer() };
  }

  #integer(): number {
    return asInteger(this.#reply[this.#next++]);
  }
}
