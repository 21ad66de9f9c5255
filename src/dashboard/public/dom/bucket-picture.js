/** @import { BucketRow } from '../pure/stream-state.js' */
import { BUCKET, depthLine, fullness, wallPath, waterPath } from '../pure/bucket-shape.js';
import { Drip } from './drip.js';
import { h, s, set } from './element.js';

/** A bucket: water up to what waits, the line of its depth, water running over when it is full, and what leaks. */
export class BucketPicture {
  element;
  #water = s('path', { class: 'water' });
  #over = s('path', {
    class: 'over',
    d: 'M4 12c-3 4-3 6-1 7s3-2 1-7zM76 12c-3 4-3 6-1 7s3-2 1-7zM8 24c-2 3-2 5-1 5s3-2 1-5zM73 24c-2 3-2 5-1 5s3-2 1-5z',
  });
  #line;
  #drip = new Drip();

  constructor() {
    const { x1, x2, y } = depthLine();
    this.#line = s('path', { class: 'depth', d: `M${x1 - 7} ${y}H${x2 + 7}` });
    const walls = s('path', { class: 'walls', d: wallPath() });
    const parts = [this.#water, this.#line, walls, this.#drip.stream, this.#drip.plug, this.#over];
    const box = { viewBox: `0 0 ${BUCKET.width} ${BUCKET.height}`, 'aria-hidden': 'true' };
    this.element = h('div', { class: 'bucket-picture' }, s('svg', box, ...parts), this.#drip.drop);
  }

  /** @param {BucketRow} row @param {number} now */
  update(row, now) {
    const fraction = fullness(row);
    set(this.#water, 'd', waterPath(fraction));
    set(this.#line, 'visibility', row.depth === null ? 'hidden' : 'visible');
    set(this.#over, 'visibility', fraction >= 1 ? 'visible' : 'hidden');
    this.#drip.update(row, now);
  }

  /** @param {number} now */
  tick(now) {
    this.#drip.tick(now);
  }
}
