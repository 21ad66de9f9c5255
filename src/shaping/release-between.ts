import type { WaitRange } from '../model/service.js';
import { msOf } from './ms-of.js';

/** The wall-clock instants (milliseconds since 1970) of a range of waits from `unixMs` on. */
export function releaseBetween(range: WaitRange | null, unixMs: number): readonly [number, number] | null {
  return range && [unixMs + Math.floor(range.earliestUs / 1000), unixMs + msOf(range.latestUs)];
}
