import type { DoorCounts, DoorSlot } from '../../shaping/door-counts.js';

/** Slots of a minute. */
const MINUTE_SLOTS = 12;
/** Slots that may still grow: processes are a second late or so. */
const OPEN_SLOTS = 2;
/** Slots over which a rate is told before two readings can be compared. */
const RECENT_SLOTS = 2;

/** What came to the door since the reading before: units that were admitted, and jobs that were refused. */
export interface DoorFlow {
  readonly admitted: number;
  readonly refused: number;
}

/** What became of a type's jobs at the door in the last minute, put together from readings of the latest slots. */
export class DoorMinute {
  #slots = new Map<number, DoorSlot>();
  #refusedNow = new Map<string, number>();
  #slotMs = 1;

  /** How many slots the next reading needs, so long after the one before. */
  missingAfter(elapsedMs: number): number {
    if (this.#slots.size === 0) return MINUTE_SLOTS;
    return Math.min(MINUTE_SLOTS, OPEN_SLOTS + Math.floor(elapsedMs / this.#slotMs));
  }

  /** Takes a reading; tells what came since the one before: nothing by the first. */
  add({ beganAtMs, slotMs, slots }: DoorCounts): DoorFlow {
    const isFirst = this.#slots.size === 0;
    this.#refusedNow = new Map();
    this.#slotMs = slotMs;
    let [admitted, refused] = [0, 0];
    slots.forEach((slot, back) => {
      const at = beganAtMs - back * slotMs;
      const before = this.#slots.get(at);
      admitted += slot.admitted - (before?.admitted ?? 0);
      refused += slot.refused - (before?.refused ?? 0);
      if (!isFirst) this.#countRefused(slot, before);
      this.#slots.set(at, slot);
    });
    for (const at of this.#slots.keys()) if (at <= beganAtMs - MINUTE_SLOTS * slotMs) this.#slots.delete(at);
    return isFirst ? { admitted: 0, refused: 0 } : { admitted: Math.max(0, admitted), refused: Math.max(0, refused) };
  }

  /** Units a second that were admitted in the last slots that are over. */
  get admittedPerSecond(): number {
    const [, ...over] = [...this.#slots].sort(([one], [other]) => other - one).map(([, slot]) => slot);
    const recent = over.slice(0, RECENT_SLOTS);
    const units = recent.reduce((sum, { admitted }) => sum + admitted, 0);
    return recent.length === 0 ? 0 : (units * 1000) / (recent.length * this.#slotMs);
  }

  /** Jobs of a tenant that were refused in the last minute. */
  refusedOf(tenant: string): number {
    let sum = 0;
    for (const slot of this.#slots.values()) sum += slot.refusedOf.get(tenant) ?? 0;
    return sum;
  }

  /** Those of them that were not there at the reading before. */
  newlyRefusedOf(tenant: string): number {
    return this.#refusedNow.get(tenant) ?? 0;
  }

  /** Tenants of whom jobs were refused. */
  get tenants(): ReadonlySet<string> {
    return new Set([...this.#slots.values()].flatMap(({ refusedOf }) => [...refusedOf.keys()]));
  }

  #countRefused({ refusedOf }: DoorSlot, before: DoorSlot | undefined): void {
    for (const [tenant, count] of refusedOf) {
      const more = count - (before?.refusedOf.get(tenant) ?? 0);
      if (more > 0) this.#refusedNow.set(tenant, (this.#refusedNow.get(tenant) ?? 0) + more);
    }
  }
}
