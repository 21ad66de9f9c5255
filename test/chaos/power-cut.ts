import type { Accepted } from './ledger.js';

/** Redis killed, and its file cut back to what it had synced. Instants by the referee's clock. */
export interface PowerCut {
  /** How many bytes went. */
  readonly bytes: number;
  /** What had been answered by then was on the disk. */
  readonly safeAt: number;
  /** From when on this server accepted nothing any more. */
  readonly deadAt: number;
  /** By how much the disk had made the second between two syncs longer. */
  readonly slowMs: number;
}

/** What a power cut took of one job. */
export interface Taken {
  /** How long before the cut it was accepted. */
  readonly ageMs: number;
  /** It was accepted before the last second, and no sync that took long excuses it. */
  readonly isTooOld: boolean;
}

/** Redis looks at what is due ten times a second. */
const TICK_MS = 100;

/** A job that a power cut may have taken with `everysec`; undefined: it was synced, and had to survive. */
export function takenByCut({ sentAt, acceptedAt }: Accepted, cuts: readonly PowerCut[]): Taken | undefined {
  const cut = cuts.find(({ safeAt, deadAt }) => acceptedAt > safeAt && sentAt < deadAt);
  if (cut === undefined) return undefined;
  const ageMs = cut.deadAt - acceptedAt;
  return { ageMs, isTooOld: ageMs > 1000 + TICK_MS + cut.slowMs };
}
