import type { Redis } from 'ioredis';
import type { Limit, LimitAlgorithm } from '../../src/model/limit.js';
import { callStatement } from '../../src/policing/call-statement.js';
import { type CallReport, ReportReader } from '../../src/policing/limit-report.js';
import { scripts } from '../../src/policing/scripts.js';
import { limitKeys } from '../../src/redis/keys.js';
import { type Argument, runScript } from '../../src/redis/script.js';

/** Some day in 2026: microseconds since 2025-01-01. A whole minute, hour and day. */
export const BEGIN_US = 500 * 86_400e6;

/** A call: its limits by subject, what it costs (1 unless given), whether it only looks. */
export interface LimitCall {
  readonly limits: Readonly<Record<string, Limit>>;
  readonly cost?: number;
  readonly peek?: boolean;
}

/** What a call came to: units that remain of its first limit, and microseconds that it has to wait. */
export type Said = readonly ['conforming' | 'limited', remaining: number, waitUs: number];

/** A call that was charged, as `refund` wants it back. */
export interface Taken extends Pick<CallReport, 'conforming' | 'atUs' | 'readings' | 'heldNs' | 'waitsUs'> {
  readonly keys: readonly string[];
  readonly statement: string;
}

let desks = 0;

/** The scripts `check` and `refund` on a real Redis, under a clock that only the test moves, on keys that no other has. */
export class LimitDesk {
  nowUs = BEGIN_US;
  readonly redis: Redis;
  readonly #subjects: string;

  constructor(redis: Redis) {
    desks += 1;
    this.redis = redis;
    this.#subjects = `desk ${desks} `;
  }

  /** The key of a limit. */
  key(subject: string): string {
    return limitKeys([{ subject: this.#subjects + subject, limit: { per: 'key' } }], false)[0] ?? '';
  }

  /** Decides calls in one script call; one report, or the error that Redis met, each. */
  async decide(calls: readonly LimitCall[], now: Argument = this.nowUs): Promise<(Taken | Error)[]> {
    const asked = calls.map(({ limits, cost = 1, peek = false }) => {
      const applied = Object.entries(limits).map(([subject, limit]) => ({ subject: this.#subjects + subject, limit }));
      return { applied, keys: limitKeys(applied, false), statement: callStatement(applied, cost, peek) };
    });
    const keys = asked.flatMap((call) => call.keys);
    const argv = [now, ...asked.flatMap(({ statement }) => [1, statement])];
    const reader = new ReportReader(await runScript(this.redis, { script: scripts.check, keys, argv }));
    return asked.map(({ applied, keys, statement }) => {
      const report = reader.next(applied);
      if (report instanceof Error) return report;
      const { conforming, atUs, readings, heldNs, waitsUs } = report;
      return { conforming, atUs, readings, heldNs, waitsUs, keys, statement };
    });
  }

  /** Decides one call now. */
  async ask(call: LimitCall): Promise<Taken> {
    const [report] = await this.decide([call]);
    if (report === undefined || report instanceof Error) throw report ?? new Error('no report');
    return report;
  }

  /** Decides one call on one limit now. */
  async say(limit: Limit, options: Omit<LimitCall, 'limits'> = {}): Promise<Said> {
    const { conforming, readings, waitsUs } = await this.ask({ limits: { a: limit }, ...options });
    const [first] = readings;
    if (!first) throw new Error('no limit');
    return [conforming ? 'conforming' : 'limited', first.remaining, waitsUs[0] ?? 0];
  }

  /** How many of `n` calls conform. */
  async passing(limit: Limit, n: number, options: Omit<LimitCall, 'limits'> = {}): Promise<number> {
    const calls = Array.from({ length: n }, () => ({ limits: { a: limit }, ...options }));
    const reports = await this.decide(calls);
    return reports.filter((report) => 'conforming' in report && report.conforming).length;
  }

  async refund({ keys, statement, atUs, heldNs }: Taken): Promise<void> {
    await runScript(this.redis, { script: scripts.refund, keys, argv: [this.nowUs, atUs, statement, ...heldNs] });
  }

  /** Every key of the database with what it holds and when it expires. */
  async everything(): Promise<string[]> {
    const keys = (await this.redis.keys('*')).sort();
    const told = keys.map(async (key) => {
      const [dump, expires] = await Promise.all([this.redis.dumpBuffer(key), this.redis.call('PEXPIRETIME', key)]);
      return `${key} ${dump?.toString('hex')} ${expires}`;
    });
    return Promise.all(told);
  }
}

/** A bucket. */
export function bucket(ratePerSecond: number, burst: number): Limit {
  return { algorithm: 'token-bucket', name: 'a', per: 'key', ratePerSecond, burst };
}

/** A log, or a counter. */
export function windowOf(algorithm: Exclude<LimitAlgorithm, 'token-bucket'>, limit: number, windowMs: number): Limit {
  return { algorithm, name: 'a', per: 'key', limit, windowMs };
}

export const log = (limit: number, windowMs: number): Limit => windowOf('sliding-window-log', limit, windowMs);
export const counter = (limit: number, windowMs: number): Limit => windowOf('sliding-window-counter', limit, windowMs);
