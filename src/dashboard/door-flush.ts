import type { DoorTally } from '../http/door-tally.js';
import { DoorTallyBuffer } from '../shaping/door-counts.js';

/** At most so often what was gathered is added to the counts of all processes, in milliseconds. */
const EVERY_MS = 1000;

/** Adds to the counts of all processes. */
export type AddCounts = (gathered: ReturnType<DoorTallyBuffer['take']>) => Promise<void>;

/**
 * Tells all processes what this one sees at its door, a moment later. Counts are only for the eye: those that Redis does
 * not take are lost.
 */
export class DoorFlush implements DoorTally {
  readonly #buffer = new DoorTallyBuffer();
  readonly #add: AddCounts;
  #timer: NodeJS.Timeout | undefined;

  constructor(add: AddCounts) {
    this.#add = add;
  }

  admitted({ type, job }: Parameters<DoorTally['admitted']>[0]): void {
    this.#buffer.admitted(type, job.cost);
    this.#flushSoon();
  }

  rejected({ type, tenant }: Parameters<DoorTally['rejected']>[0]): void {
    this.#buffer.rejected(type, tenant);
    this.#flushSoon();
  }

  close(): void {
    clearTimeout(this.#timer);
  }

  #flushSoon(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#add(this.#buffer.take()).catch(() => undefined);
    }, EVERY_MS);
  }
}
