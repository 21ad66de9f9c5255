/** Virtual now, and by how much it is ahead of the clock that it is read from. Microseconds. */
export interface VirtualClock {
  readonly nowUs: number;
  readonly offsetUs: number;
}

/** Before the clock was ever read. */
export const CLOCK_START: VirtualClock = { nowUs: 0, offsetUs: 0 };

/**
 * The next reading. If the clock stepped back, the offset makes up for it, so that virtual now goes on at its usual pace;
 * once the clock has passed virtual now by itself, the offset is dropped.
 */
export function readClock({ nowUs, offsetUs }: VirtualClock, rawUs: number): VirtualClock {
  if (rawUs >= nowUs) return { nowUs: rawUs, offsetUs: 0 };
  if (rawUs + offsetUs >= nowUs) return { nowUs: rawUs + offsetUs, offsetUs };
  return { nowUs, offsetUs: nowUs - rawUs };
}
