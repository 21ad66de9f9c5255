import type { RateLimit } from '../model/limit.js';
import { asInteger, asNumber } from '../redis/reply.js';
import type { AppliedLimit, Reading } from './policer.js';

const VERDICTS = { conforming: 1, failed: -1 } as const;
/** What is less has leaked away. */
const LAST_DIGITS_US = 1e-3;

type Limits = readonly Pick<AppliedLimit, 'limit'>[];

/** What `lua/check.lua` says of one call. What few ask for is read when somebody asks. */
export class CallReport {
  readonly conforming: boolean;
  /** The instant of the decision: microseconds since 2025-01-01. */
  readonly atUs: number;
  /** What each limit holds now. */
  readonly readings: readonly Reading[];
  readonly #reply: readonly unknown[];
  readonly #limits: Limits;
  /** Place of the verdict in the reply. */
  readonly #place: number;

  constructor(reply: readonly unknown[], place: number, limits: Limits) {
    this.#reply = reply;
    this.#place = place;
    this.#limits = limits;
    this.atUs = asInteger(reply[0]);
    this.conforming = asInteger(reply[place]) === VERDICTS.conforming;
    this.readings = this.#each(({ limit }, at) =>
      limit.algorithm === 'token-bucket'
        ? readingOf(limit, asNumber(reply[at]) / 1000)
        : { limit, remaining: asInteger(reply[at]) / 1e6, nextUnitMs: asInteger(reply[at + 1]) / 1000 },
    );
  }

  /** Of a bucket: nanoseconds in which what it held right after the call leaks away; 0 of other limits. */
  get heldNs(): readonly number[] {
    return this.#each(({ limit }, at) => (limit.algorithm === 'token-bucket' ? asNumber(this.#reply[at]) : 0));
  }

  /** Microseconds until each limit lets the call pass, 0 where it does now; none when the call conforms. */
  get waitsUs(): readonly number[] {
    return this.conforming ? [] : this.#each((applied, at) => asInteger(this.#reply[at + widthOf(applied)]));
  }

  /** The place behind it in the reply. */
  get end(): number {
    const widths = this.#limits.reduce((sum, applied) => sum + widthOf(applied), 0);
    return this.#place + 1 + widths + (this.conforming ? 0 : this.#limits.length);
  }

  #each<Told>(read: (applied: Limits[number], at: number) => Told): Told[] {
    let at = this.#place + 1;
    return this.#limits.map((applied) => {
      const told = read(applied, at);
      at += widthOf(applied) + (this.conforming ? 0 : 1);
      return told;
    });
  }
}

/** Reads a flat reply call by call; each caller knows which limits it asked about. */
export class ReportReader {
  readonly #reply: readonly unknown[];
  #next = 1;

  constructor(reply: readonly unknown[]) {
    this.#reply = reply;
  }

  /** The report on the next call, or the error that Redis met when it looked at that call's keys. */
  next(limits: Limits): CallReport | Error {
    const place = this.#next;
    if (asInteger(this.#reply[place]) === VERDICTS.failed) {
      this.#next += 2;
      return new Error(String(this.#reply[place + 1]));
    }
    const report = new CallReport(this.#reply, place, limits);
    this.#next = report.end;
    return report;
  }
}

/** How many numbers are told of what a limit holds. */
function widthOf({ limit }: Limits[number]): number {
  return limit.algorithm === 'token-bucket' ? 1 : 2;
}

/** What a bucket holds, in which so many microseconds have to leak away: millionths of a unit, whole microseconds. */
function readingOf(limit: RateLimit, levelUs: number): Reading {
  const { ratePerSecond, burst } = limit;
  const intervalUs = 1e6 / ratePerSecond;
  const remaining = Math.max(0, Math.round((burst - levelUs / intervalUs) * 1e6)) / 1e6;
  if (levelUs <= LAST_DIGITS_US) return { limit, remaining, nextUnitMs: 0 };
  const one = Math.min(burst, Math.floor(remaining) + 1);
  return { limit, remaining, nextUnitMs: Math.ceil(levelUs - (burst - one) * intervalUs - LAST_DIGITS_US) / 1000 };
}
