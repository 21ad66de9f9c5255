import type { WaitRange } from '../model/service.js';
import { asInteger } from '../redis/reply.js';
import { orNull } from './dispatched.js';

/** Between which waits a start is expected, in µs; `null` where nobody has measured. */
export function waitRangeOf(earliest: unknown, latest: unknown): WaitRange | null {
  const [earliestUs, latestUs] = [orNull(asInteger(earliest)), orNull(asInteger(latest))];
  return earliestUs === null || latestUs === null ? null : { earliestUs, latestUs };
}
