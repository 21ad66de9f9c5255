/** Whole microseconds of a wait, rounded up; at most 285 years, beyond which integers and dates end. */
export function wholeUs(us: number): number {
  return Math.max(0, Math.ceil(Math.min(us, 9e15)));
}
