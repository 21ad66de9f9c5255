import type { RateLimit } from '../model/limit.js';
import { asInteger, asNumber } from '../redis/reply.js';
import type { AppliedLimit, Reading } from './policer.js';

/** What `lua/check.lua` says of one call. */
export interface CallReport {
  readonly conforming: boolean;
  /** The instant of the decision: microseconds since 2025-01-01. */
  readonly atUs: number;
  /** What each limit holds now. */
  readonly readings: readonly Reading[];
  /** Of a bucket: nanoseconds in which what it held right after the call leaks away; 0 of other limits. */
  readonly heldNs: readonly number[];
  /** Microseconds until each limit lets the call pass, 0 where it does now; none when the call conforms. */
  readonly waitsUs: readonly number[];
}

const VERDICTS = { conforming: 1, failed: -1 } as const;
/** What is less has leaked away. */
const LAST_DIGITS_US = 1e-3;

/** Reads a flat reply call by call; each caller knows which limits it asked about. */
export class ReportReader {
  readonly #reply: readonly unknown[];
  readonly #atUs: number;
  #next = 1;

  constructor(reply: readonly unknown[]) {
    this.#reply = reply;
    this.#atUs = asInteger(reply[0]);
  }

  /** The report on the next call, or the error that Redis met when it looked at that call's keys. */
  next(limits: readonly Pick<AppliedLimit, 'limit'>[]): CallReport | Error {
    const verdict = this.#integer();
    if (verdict === VERDICTS.failed) return new Error(String(this.#reply[this.#next++]));
    const conforming = verdict === VERDICTS.conforming;
    const readings: Reading[] = [];
    const heldNs: number[] = [];
    const waitsUs: number[] = [];
    for (const { limit } of limits) {
      const isBucket = limit.algorithm === 'token-bucket';
      const held = isBucket ? asNumber(this.#reply[this.#next++]) : 0;
      heldNs.push(held);
      readings.push(isBucket ? readingOf(limit, held / 1000) : this.#reading());
      if (!conforming) waitsUs.push(this.#integer());
    }
    return { conforming, atUs: this.#atUs, readings, heldNs, waitsUs };
  }

  #reading(): Reading {
    return { remaining: this.#integer() / 1e6, nextUnitMs: this.#integer() / 1000 };
  }

  #integer(): number {
    return asInteger(this.#reply[this.#next++]);
  }
}

/** What a bucket holds, in which so many microseconds have to leak away: millionths of a unit, whole microseconds. */
function readingOf({ ratePerSecond, burst }: RateLimit, levelUs: number): Reading {
  const intervalUs = 1e6 / ratePerSecond;
  const remaining = Math.max(0, Math.round((burst - levelUs / intervalUs) * 1e6)) / 1e6;
  if (levelUs <= LAST_DIGITS_US) return { remaining, nextUnitMs: 0 };
  const one = Math.min(burst, Math.floor(remaining) + 1);
  return { remaining, nextUnitMs: Math.ceil(levelUs - (burst - one) * intervalUs - LAST_DIGITS_US) / 1000 };
}
