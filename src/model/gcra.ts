/**
 * The token bucket as a meter, kept as one number: the theoretical arrival time (`tat`), the instant at which the bucket
 * will be empty. It is the virtual scheduling algorithm (GCRA) of ATM Forum TM 4.0 and ITU-T I.371. A bucket of `burst`
 * tokens that refills continuously and a leaky bucket that may hold `burst` units are the same thing seen from two sides.
 *
 * Instants are microseconds of one clock that does not go back, from any beginning; they come in as arguments. A double
 * keeps them to 1e-4 µs for two weeks, and to 0.01 µs for a century.
 */
export interface Meter {
  /** Microseconds in which one unit leaks away. */
  readonly emissionUs: number;
  /** Units that the bucket may hold; the greatest cost that can pass. */
  readonly burst: number;
}

/** A bucket that nothing was ever put into. One whose `tat` has passed is no different: it may be forgotten. */
export const EMPTY_TAT_US = Number.NEGATIVE_INFINITY;

/**
 * By how much a call may miss: a thousandth of a unit, at most 100 µs. Sums of odd intervals are off by a few of a double's
 * last digits, and the tenth call of ten must pass. What it lets through is owed by the next call: it does not add up.
 */
const TOLERANCE = 1e-3;
const TOLERANCE_US = 100;

function toleranceUs({ emissionUs }: Meter, cost: number): number {
  return Math.min(TOLERANCE * Math.min(1, cost) * emissionUs, TOLERANCE_US);
}

/** Units and instants of a rate in units per second. */
export function meterOf(ratePerSecond: number, burst: number): Meter {
  return { emissionUs: 1e6 / ratePerSecond, burst };
}

/** Units in the bucket. */
export function levelOf(meter: Meter, tatUs: number, nowUs: number): number {
  return tatUs > nowUs ? (tatUs - nowUs) / meter.emissionUs : 0;
}

/** Whether a call can pass when the bucket is empty; one that cannot never will. */
export function canEverPass(meter: Meter, cost: number): boolean {
  return cost <= meter.burst;
}

/** Whether `units` are enough for a call of `cost`, but for a double's last digits. */
export function covers(meter: Meter, units: number, cost: number): boolean {
  return (cost - units) * meter.emissionUs <= toleranceUs(meter, cost);
}

/** Whether a call of `cost` may pass now: level + cost ≤ burst. */
export function conforms(meter: Meter, tatUs: number, cost: number, nowUs: number): boolean {
  const { emissionUs, burst } = meter;
  const levelUs = tatUs > nowUs ? tatUs - nowUs : 0;
  const missingUs = levelUs + (cost - burst) * emissionUs;
  return missingUs <= 0 || missingUs <= toleranceUs(meter, cost);
}

/** The bucket's `tat` once a call of `cost` has passed. */
export function charge(meter: Meter, tatUs: number, cost: number, nowUs: number): number {
  return Math.max(tatUs, nowUs) + cost * meter.emissionUs;
}

/**
 * The bucket's `tat` once a call is undone. Only what the call had put in and has not leaked away meanwhile comes out again:
 * a call that is undone late does not make room for others a second time.
 *
 * @param chargedTatUs What {@link charge} answered for that call.
 */
export function giveBack(meter: Meter, tatUs: number, cost: number, chargedTatUs: number, nowUs: number): number {
  return tatUs - Math.min(cost * meter.emissionUs, Math.max(0, chargedTatUs - nowUs));
}

/** Microseconds until a call of `cost` passes, if nobody else takes anything. */
export function waitUs(meter: Meter, tatUs: number, cost: number, nowUs: number): number {
  return Math.max(0, Math.max(tatUs, nowUs) - nowUs + (cost - meter.burst) * meter.emissionUs);
}

/** The same in whole milliseconds, rounded up: the call passes then. A double's last digits make no millisecond. */
export function waitMs(meter: Meter, cost: number, waitUs: number): number {
  return Math.ceil((waitUs - Math.min(toleranceUs(meter, cost) / 2, 1e-3)) / 1000);
}

/** Units that would pass now. */
export function remainingOf(meter: Meter, tatUs: number, nowUs: number): number {
  return wholeIfNearly(meter, Math.max(0, meter.burst - levelOf(meter, tatUs, nowUs)));
}

/** `units`, or the whole number that a double's last digits keep them from: those would pass. */
export function wholeIfNearly(meter: Meter, units: number): number {
  const whole = Math.round(units);
  return Math.abs(units - whole) * meter.emissionUs <= toleranceUs(meter, 1) / 2 ? whole : units;
}

/** Microseconds until one whole unit more would pass than now, or the bucket is empty if that is sooner; 0 when it is empty. */
export function nextUnitUs(meter: Meter, remaining: number): number {
  return (Math.min(meter.burst, Math.floor(remaining) + 1) - remaining) * meter.emissionUs;
}

/** Another rate: the level stays what it is, so neither a burst nor a stall follows. */
export function reRated(tatUs: number, from: Meter, to: Meter, nowUs: number): number {
  return tatUs > nowUs ? nowUs + ((tatUs - nowUs) * to.emissionUs) / from.emissionUs : tatUs;
}
