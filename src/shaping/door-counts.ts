import { orUnavailable, type RedisLink } from '../redis/connection.js';
import { decodeTenant, encodeTenant, shardTag } from '../redis/keys.js';
import { runScript } from '../redis/script.js';
import { scripts } from './survey-scripts.js';

/** Counts live for so long, in milliseconds. */
const KEEP_MS = 120_000;
/** At most so many counts are kept of a type at each moment: those of the type, and of as many tenants. */
const MOST = 502;

/** What became of the jobs of a type at the door, over all processes. */
export interface DoorCounts {
  /** When this slot began, in ms since 1970 by the clock of Redis, and how long each is. */
  readonly beganAtMs: number;
  readonly slotMs: number;
  /** Newest first: the first is not over yet. */
  readonly slots: readonly DoorSlot[];
}

export interface DoorSlot {
  /** Units that were admitted. */
  readonly admitted: number;
  /** Jobs that were refused. */
  readonly refused: number;
  /** The same by tenant. */
  readonly refusedOf: ReadonlyMap<string, number>;
}

/** How counts are called in Redis. */
const ADMITTED = 'a';
const REFUSED = 'r';
const REFUSED_OF = 'r:';

/**
 * What this process saw at the door, to be added to the counts of all. It gathers, and keeps at most {@link MOST} counts of a
 * type until it is emptied; then tenants that come later are counted with their type alone.
 */
export class DoorTallyBuffer {
  readonly #counts = new Map<string, Map<string, number>>();

  admitted(type: string, cost: number): void {
    this.#add(type, ADMITTED, cost);
  }

  rejected(type: string, tenant: string): void {
    this.#add(type, REFUSED, 1);
    this.#add(type, `${REFUSED_OF}${encodeTenant(tenant)}`, 1);
  }

  /** What was gathered, by type; then there is nothing. */
  take(): ReadonlyMap<string, ReadonlyMap<string, number>> {
    const taken = new Map(this.#counts);
    this.#counts.clear();
    return taken;
  }

  #add(type: string, field: string, amount: number): void {
    const counts = this.#counts.get(type) ?? new Map<string, number>();
    this.#counts.set(type, counts);
    if (counts.size < MOST || counts.has(field)) counts.set(field, (counts.get(field) ?? 0) + amount);
  }
}

/** Adds what was gathered to the counts in Redis; those of a type stand in its first shard, whoever they are of. Throws RedisUnavailable when it did not answer. */
export async function addDoorCounts(
  redis: RedisLink,
  gathered: ReadonlyMap<string, ReadonlyMap<string, number>>,
): Promise<void> {
  for (const [type, counts] of gathered) {
    const argv = ['', KEEP_MS, MOST, ...[...counts].flat()];
    await orUnavailable(() => runScript(redis, { script: scripts.tally, tag: shardTag(type), argv }));
  }
}

/** The counts of the latest `slots`. Throws RedisUnavailable when Redis did not answer. */
export async function readDoorCounts(redis: RedisLink, type: string, latest: number): Promise<DoorCounts> {
  const argv = ['', latest];
  const read = await orUnavailable(() => runScript(redis, { script: scripts.tallies, tag: shardTag(type), argv }));
  const slots = read.slots.map((slot) => ({
    admitted: slot.get(ADMITTED) ?? 0,
    refused: slot.get(REFUSED) ?? 0,
    refusedOf: new Map(
      [...slot].flatMap(([field, count]) =>
        field.startsWith(REFUSED_OF) ? [[decodeTenant(field.slice(REFUSED_OF.length)), count] as const] : [],
      ),
    ),
  }));
  return { beganAtMs: read.beganAtMs, slotMs: read.slotMs, slots };
}
