/** The longest wait that is told, 285 years, beyond which integers and dates end. It stands for never. */
export const NEVER_US = 9e15;

/** Whole microseconds of a wait, rounded up. */
export function wholeUs(us: number): number {
  return Math.max(0, Math.ceil(Math.min(us, NEVER_US)));
}
