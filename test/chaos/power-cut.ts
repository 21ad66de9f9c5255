import type { Accepted } from './ledger.js';

/** Redis killed, and its file cut back to what it had synced. Instants by the referee's clock. */
export interface PowerCut {
  /** How many bytes went. */
  readonly bytes: number;
  /** What had been answered by then was on the disk. */
  readonly safeAt: number;
  /** From when on this server accepted nothing any more. */
  readonly deadAt: number;
}

/** How long before the power cut a job was accepted that the cut may have taken with `everysec`; undefined: it had to survive. */
export function ageAtCut({ sentAt, acceptedAt }: Accepted, cuts: readonly PowerCut[]): number | undefined {
  const cut = cuts.find(({ safeAt, deadAt }) => acceptedAt > safeAt && sentAt < deadAt);
  return cut && cut.deadAt - acceptedAt;
}
