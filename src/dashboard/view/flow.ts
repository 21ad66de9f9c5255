/** What was served over about the last minute, and when that was so. */
export interface Served {
  readonly servedPerSecond: number;
  /** Milliseconds. */
  readonly atMs: number;
}

/** What lies t back counts e^(−t / FADE) in what was served. */
const FADE_MS = 60_000;
/** Rates that are shown are over about so long. */
const SHOWN_MS = 10_000;

/**
 * Units that were served between two readings. What fades between them is known, so that the rest is what came in the
 * meantime; it is short by what that itself faded, which is 1 % in a second.
 */
export function unitsServed(before: Served, after: Served): number {
  const left = Math.exp((before.atMs - after.atMs) / FADE_MS);
  return Math.max(0, ((after.servedPerSecond - before.servedPerSecond * left) * FADE_MS) / 1000);
}

/** Units that came in: what went out, and what more stands there now. What was cancelled is no inflow. */
export function unitsIn(out: number, backlogBefore: number, backlogAfter: number): number {
  return Math.max(0, out + backlogAfter - backlogBefore);
}

/** A rate after so many units came in so long. */
export function smoothed(ratePerSecond: number, units: number, elapsedMs: number): number {
  if (elapsedMs <= 0) return ratePerSecond;
  return ratePerSecond + ((units * 1000) / elapsedMs - ratePerSecond) * (1 - Math.exp(-elapsedMs / SHOWN_MS));
}
