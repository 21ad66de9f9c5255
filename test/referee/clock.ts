/**
 * The referee's clock: monotonic milliseconds. It has no relation to any wall clock, and none to the clock of Redis.
 */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

/**
 * What to add to `here` to read `there`, found from one exchange: asked at `sentAt`, answered at `answeredAt` (both read
 * here), saying `reading` (read there). Processes of one machine share the monotonic clock, and then the answer is exactly 0.
 */
export function clockOffsetMs(sentAt: number, reading: number, answeredAt: number): number {
  if (reading >= sentAt && reading <= answeredAt) return 0;
  return reading - (sentAt + answeredAt) / 2;
}
