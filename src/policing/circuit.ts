import { isPassing } from '../redis/outage.js';
import { Late } from './deadline.js';

export interface CircuitOptions {
  /** Monotonic milliseconds. */
  readonly now?: () => number;
  /** From 0 up to 1. */
  readonly random?: () => number;
}

/** Leave to ask Redis, handed back with what came of it. */
export type Pass = number & { readonly __brand: 'Pass' };

/** The first probe comes after about so long, each later one after twice as long as the one before. */
const FIRST_PAUSE_MS = 100;
const LAST_PAUSE_MS = 1000;

/** One late answer may be a slow script; so many in a row are an outage. */
const LATE_IN_A_ROW = 3;

const CALL = 0 as Pass;

/**
 * Keeps calls away from a Redis that is away: one for each connection, whatever the number of policies.
 *
 * - Closed: every call may ask. It opens at once when Redis refuses or cannot be reached, and after three late answers
 *   in a row.
 * - Open: nobody may ask, but for one probe at a time, at growing, jittered intervals. A probe is a call like any other;
 *   where nobody calls, nobody probes.
 * - Any answer closes it.
 *
 * It holds no timers and forgets everything with the process.
 */
export class Circuit {
  readonly #now: () => number;
  readonly #random: () => number;
  #lateInARow = 0;
  #probes = 0;
  /** Only while open. */
  #open: { pauseMs: number; probeAt: number; probing: Pass | undefined } | undefined;

  constructor({ now = performance.now.bind(performance), random = Math.random }: CircuitOptions = {}) {
    this.#now = now;
    this.#random = random;
  }

  get isOpen(): boolean {
    return this.#open !== undefined;
  }

  /** Leave to ask; `undefined` when Redis is to be left alone. Whoever has it says in the end what came of it. */
  admit(): Pass | undefined {
    const open = this.#open;
    if (open === undefined) return CALL;
    if (open.probing !== undefined || this.#now() < open.probeAt) return undefined;
    this.#probes += 1;
    open.probing = this.#probes as Pass;
    return open.probing;
  }

  /** Redis answered, whatever it said. */
  answered(): void {
    this.#lateInARow = 0;
    this.#open = undefined;
  }

  /** Redis was not asked after all. */
  unused(pass: Pass): void {
    if (this.#open?.probing === pass) this.#open.probing = undefined;
  }

  /** Redis did not answer, or said that it cannot serve now. */
  failed(pass: Pass, error: unknown): void {
    if (this.#open === undefined) {
      this.#lateInARow += 1;
      if (!(error instanceof Late) || this.#lateInARow >= LATE_IN_A_ROW) this.#pause(FIRST_PAUSE_MS);
    } else if (this.#open.probing === pass) {
      this.#pause(Math.min(LAST_PAUSE_MS, this.#open.pauseMs * 2));
    }
  }

  #pause(pauseMs: number): void {
    const jitter = 0.75 + this.#random() / 2;
    this.#open = { pauseMs, probeAt: this.#now() + pauseMs * jitter, probing: undefined };
  }
}

/** Whether an error says that Redis is away, and not that somebody made a mistake. */
export function isOutage(error: unknown): boolean {
  return error instanceof Late || isPassing(error);
}
