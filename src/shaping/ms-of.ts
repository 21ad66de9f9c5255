import { NEVER_US } from '../model/scheduler/whole-us.js';

/** A wait that a script answered, in whole milliseconds, never too short; `Infinity` for one without an end. */
export function msOf(us: number): number {
  return us >= NEVER_US ? Infinity : Math.ceil(us / 1000);
}
