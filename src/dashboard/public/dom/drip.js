/** @import { BucketRow } from '../pure/stream-state.js' */
import { BUCKET, leak } from '../pure/bucket-shape.js';
import { h, s, set } from './element.js';
import { isCalm } from './ticker.js';

const FALL_MS = 520;
const FALL = [
  { transform: 'translateY(0) scale(0.7)', opacity: 1 },
  { transform: 'translateY(0) scale(1)', opacity: 1, offset: 0.25 },
  { transform: 'translateY(22px) scale(1)', opacity: 0.15 },
];
/** Pixels of a stream's pattern, and how far it runs in a tick. */
const PATTERN = 8;
const RUN = 3;

/**
 * What leaves a bucket: a drop when a job starts and one every emission interval after it, a stream where that is too
 * fast to see, a plug where nothing may leave.
 */
export class Drip {
  drop = h('span', { class: 'drop', 'aria-hidden': 'true' });
  stream = s('path', { class: 'stream' });
  plug = s('path', { class: 'plug' });
  /** @type {ReturnType<typeof leak>} */
  #leak = { flow: 'none', periodMs: Infinity };
  #dueAt = Infinity;
  #run = 0;

  constructor() {
    const { middle, floorY, height } = BUCKET;
    set(this.stream, 'd', `M${middle} ${floorY + 2}V${height}`);
    set(this.plug, 'd', `M${middle - 6} ${floorY - 1}h12v5h-12z`);
  }

  /** @param {BucketRow} row @param {number} now */
  update(row, now) {
    this.#leak = leak(row);
    const { flow, periodMs } = this.#leak;
    set(this.stream, 'visibility', flow === 'stream' ? 'visible' : 'hidden');
    set(this.plug, 'visibility', flow === 'plugged' ? 'visible' : 'hidden');
    this.drop.hidden = flow !== 'drops';
    if (flow !== 'drops') this.#dueAt = Infinity;
    else if (row.nextStartAt !== null && Date.parse(row.nextStartAt) > now) this.#dueAt = Date.parse(row.nextStartAt);
    else if (this.#dueAt > now + periodMs) this.#dueAt = now + periodMs;
  }

  /** @param {number} now */
  tick(now) {
    if (isCalm()) return;
    if (this.#leak.flow === 'stream') {
      this.#run = (this.#run + PATTERN - RUN) % PATTERN;
      set(this.stream, 'stroke-dashoffset', this.#run);
    }
    if (now < this.#dueAt) return;
    this.drop.animate(FALL, { duration: FALL_MS, easing: 'cubic-bezier(0.5, 0, 0.9, 0.6)' });
    const { periodMs } = this.#leak;
    // Whoever comes back to the page sees one drop, and not those that fell meanwhile.
    this.#dueAt = Math.max(this.#dueAt + periodMs, now + periodMs / 2);
  }
}
