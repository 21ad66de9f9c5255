import type { Limit, LimitAlgorithm } from '../../src/model/limit.js';
import type { AppliedLimit, Check, Policer, PolicerVerdict } from '../../src/policing/policer.js';

/** A kind of policer, as the table of laws sees it: one column. */
export interface PolicerKind {
  /** Its name in titles: `token-bucket`, `sliding-window-log`, `sliding-window-counter`, `local`, `leased`. */
  readonly name: string;
  /** By whose law it is judged. `local` and `leased` are token buckets. */
  readonly algorithm: LimitAlgorithm;
  /** A policer that nobody else uses, under a clock of its own. Those over one Redis may share their keys' names. */
  open(): Promise<OpenPolicer>;
}

/** A policer under an explicit clock: nothing passes but what {@link OpenPolicer.advance} says. */
export interface OpenPolicer {
  readonly policer: Policer;
  /** The clock by which it decides; for one over Redis also the clock that its scripts are told. */
  nowUs(): number;
  /** Lets time pass; also fractions of a microsecond. */
  advance(us: number): void;
  /** Every key that Redis holds, for those that keep something there. */
  keys?(): Promise<readonly StoredKey[]>;
  /** Closes the policer; not the Redis that the kind was given. */
  close(): Promise<void>;
}

export interface StoredKey {
  readonly key: string;
  /** Milliseconds that it still lives; -1 when it never expires, as Redis has it. */
  readonly ttlMs: number;
}

/** `quota` units in `windowMs`, as an algorithm has it: a bucket of that many, which refills in that time. */
export function limitOf(
  algorithm: LimitAlgorithm,
  { name = 'a', quota, windowMs }: { readonly name?: string; readonly quota: number; readonly windowMs: number },
): Limit {
  return algorithm === 'token-bucket'
    ? { algorithm, name, per: 'key', burst: quota, ratePerSecond: quota / (windowMs / 1000) }
    : { algorithm, name, per: 'key', limit: quota, windowMs };
}

let subjects = 0;

/** The limit with a subject that no other test has. */
export function freshly(limit: Limit): AppliedLimit {
  subjects += 1;
  return { limit, subject: `test:${limit.name}:${limit.algorithm}:${subjects}` };
}

/** One call at the door; costs 1 and takes what it costs unless said otherwise. */
export async function ask(
  { policer }: Pick<OpenPolicer, 'policer'>,
  limits: AppliedLimit | readonly AppliedLimit[],
  { cost = 1, peek = false }: Partial<Pick<Check, 'cost' | 'peek'>> = {},
): Promise<PolicerVerdict> {
  return policer.check({ limits: 'subject' in limits ? [limits] : limits, cost, peek });
}
