/** @import { StreamState } from '../pure/stream-state.js' */
import { h, set } from '../dom/element.js';
import { listHeight, seenItems, wantedWindow } from '../pure/list-window.js';
import { BucketCard } from './bucket-card.js';

const ROW_HEIGHT = 164;
const LEAST_WIDTH = 232;
const GAP = 12;

/**
 * The buckets of a type, of which there may be thousands: those that are seen stand in the document, and the stream is
 * asked for these and some around them.
 */
export class BucketList {
  element = h('ul', { class: 'bucket-list', 'aria-label': 'Buckets' });
  /** @type {Map<string, BucketCard>} by tenant: those that are drawn */
  #cards = new Map();
  #window = { from: 0, count: 60 };
  /** @type {StreamState | null} */
  #state = null;
  #askFor;
  #frame = 0;
  #resized;

  /** @param {(window: { from: number, count: number }) => void} askFor asks the stream for another part */
  constructor(askFor) {
    this.#askFor = askFor;
    this.#resized = new ResizeObserver(() => this.#soon());
    this.#resized.observe(this.element);
    addEventListener('scroll', this.#soon, { passive: true });
  }

  close() {
    this.#resized.disconnect();
    removeEventListener('scroll', this.#soon);
    cancelAnimationFrame(this.#frame);
  }

  /** The part that the stream is asked for. */
  get window() {
    return this.#window;
  }

  /** Begins at the top again, as after another search. */
  toTop() {
    this.#window = { from: 0, count: 60 };
  }

  /** @param {StreamState} state @param {number} now */
  update(state, now) {
    this.#state = state;
    this.#draw(now);
  }

  /** @param {number} now */
  tick(now) {
    for (const card of this.#cards.values()) card.tick(now);
  }

  #soon = () => {
    cancelAnimationFrame(this.#frame);
    this.#frame = requestAnimationFrame(() => this.#draw(Date.now()));
  };

  /** @param {number} now */
  #draw(now) {
    const buckets = this.#state?.buckets ?? null;
    if (buckets === null || !this.element.isConnected) return;
    const width = this.element.clientWidth;
    const columns = Math.max(1, Math.floor((width + GAP) / (LEAST_WIDTH + GAP)));
    const shape = { total: buckets.total, columns, rowHeight: ROW_HEIGHT };
    this.element.style.setProperty('height', `${listHeight(shape)}px`);
    const seen = seenItems(shape, -this.element.getBoundingClientRect().top, innerHeight);
    const items = buckets.order
      .map((tenant, index) => ({ tenant, index: buckets.from + index }))
      .filter(({ tenant, index }) => index >= seen.from && index < seen.to && buckets.rows.has(tenant));
    this.#place(items, columns, (width + GAP) / columns, buckets.total, now);
    const wanted = wantedWindow(seen, this.#window);
    if (wanted === this.#window) return;
    this.#window = wanted;
    this.#askFor(wanted);
  }

  /** @param {{ tenant: string, index: number }[]} items @param {number} columns @param {number} pitch @param {number} total @param {number} now */
  #place(items, columns, pitch, total, now) {
    const focused = document.activeElement;
    const drawn = new Map(items.map(({ tenant }) => [tenant, this.#cards.get(tenant) ?? this.#made(tenant)]));
    for (const [tenant, card] of this.#cards) if (!drawn.has(tenant)) card.element.remove();
    this.#cards = drawn;
    items.forEach(({ tenant, index }, place) => {
      const card = drawn.get(tenant);
      const row = this.#state?.buckets?.rows.get(tenant);
      if (card === undefined || row === undefined) return;
      const { element } = card;
      if (this.element.children[place] !== element) {
        this.element.insertBefore(element, this.element.children[place] ?? null);
      }
      element.style.setProperty('width', `${pitch - GAP}px`);
      const [x, y] = [(index % columns) * pitch, Math.floor(index / columns) * ROW_HEIGHT];
      element.style.setProperty('transform', `translate(${x}px, ${y}px)`);
      set(element, 'aria-posinset', index + 1);
      set(element, 'aria-setsize', total);
      card.update(row, now);
    });
    // Moving an element takes the keyboard away from it.
    if (focused instanceof HTMLElement && focused !== document.activeElement && focused.isConnected) {
      focused.focus({ preventScroll: true });
    }
  }

  /** @param {string} tenant */
  #made(tenant) {
    return new BucketCard(this.#state?.view.type ?? '', tenant);
  }
}
