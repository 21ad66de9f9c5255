/** @import { TypeRow } from '../pure/stream-state.js' */
import { h, nameOf, s, set } from '../dom/element.js';
import { facts } from '../dom/facts.js';
import { glyph } from '../dom/glyph.js';
import { count, duration, rate } from '../pure/format.js';
import { backlogY, MARKS, RESERVOIR, streamWidth, workerMarks } from '../pure/reservoir-shape.js';
import { hashOf } from '../pure/route.js';

const { width, height, left, right, top, floor } = RESERVOIR;
const INLET_X = 70;
const OUTLET_X = 200;
/** Half of the outlet, which holds the widest stream: that of the whole capacity. */
const OUTLET_HALF = 9;
const BEHIND = 'M8 1l7.5 14h-15zM7 6v4.5h2V6zM7 12v1.8h2V12z';
const FINE = 'M6.5 13.5L1 8l2-2 3.5 3.5L13 3l2 2z';
const PAUSED = 'M3 2h4v12H3zM9 2h4v12H9z';

/** A type as a reservoir: what flows in above, what waits, what the workers let out against what they could. */
export class ReservoirCard {
  element;
  #water = s('rect', { class: 'water', x: left, width: right - left });
  #inflow = s('path', { class: 'flow' });
  #outflow = s('path', { class: 'flow' });
  #outlet = s('path', { class: 'outlet' });
  #state = h('p', { class: 'state' });
  #workers = h('span', { class: 'worker-marks', 'aria-hidden': 'true' });
  #facts = facts(['in', 'out', 'waiting', 'oldest', 'workers', 'slip', 'buckets']);
  #link;
  /** @type {TypeRow | null} */
  #row = null;
  #shownState = '';

  /** @param {string} type */
  constructor(type) {
    this.#link = h('a', { class: 'card-link', href: hashOf({ type }) }, nameOf(type, 40));
    const walls = s('path', { class: 'walls', d: `M${left} ${top - 8}V${floor}H${right}V${top - 8}` });
    const parts = [this.#inflow, this.#water, ...MARKS.flatMap(mark), scaleName(), walls, this.#outflow, this.#outlet];
    const picture = s('svg', { viewBox: `0 0 ${width} ${height}`, 'aria-hidden': 'true' }, ...parts);
    const head = h('div', { class: 'reservoir-head' }, h('h2', {}, this.#link), this.#state);
    const body = h(
      'div',
      { class: 'reservoir-body' },
      h('div', { class: 'reservoir-picture' }, picture, this.#workers),
      this.#facts.element,
    );
    this.element = h('li', { class: 'reservoir' }, head, body);
  }

  /** @param {TypeRow} row @param {boolean} current whether its buckets are shown below */
  update(row, current) {
    set(this.#link, 'aria-current', current ? 'true' : null);
    if (row === this.#row) return;
    this.#row = row;
    this.#draw(row);
    this.#sayState(row);
    const { say: fact } = this.#facts;
    fact('in', rate(row.inPerSecond));
    fact(
      'out',
      row.capacityPerSecond === null
        ? rate(row.outPerSecond)
        : `${rate(row.outPerSecond)} of ${rate(row.capacityPerSecond)}`,
    );
    fact('waiting', row.delayed > 0 ? `${count(row.waiting)} + ${count(row.delayed)} delayed` : count(row.waiting));
    fact('oldest', row.oldestMs === null ? '–' : duration(row.oldestMs));
    const busy = row.busy ?? row.running;
    fact(
      'workers',
      row.concurrency === null ? `${count(busy)} busy, no limit` : `${count(busy)} of ${count(row.concurrency)} busy`,
    );
    fact('slip', row.slipMs === null ? '–' : duration(row.slipMs));
    fact('buckets', `${count(row.readyBuckets)} ready of ${count(row.backloggedBuckets)}`);
  }

  /** @param {TypeRow} row */
  #draw(row) {
    const y = backlogY(row.waiting + row.delayed);
    set(this.#water, 'y', y);
    set(this.#water, 'height', floor - y);
    const most = row.capacityPerSecond ?? Math.max(row.inPerSecond, row.outPerSecond);
    set(this.#inflow, 'd', `M6 10H${INLET_X - 6}q6 0 6 6V${floor - 1}`);
    set(this.#inflow, 'stroke-width', streamWidth(row.inPerSecond, most));
    set(this.#outflow, 'd', `M${OUTLET_X} ${floor + 1}V${height}`);
    set(this.#outflow, 'stroke-width', streamWidth(row.outPerSecond, most));
    const [from, to] = [OUTLET_X - OUTLET_HALF, OUTLET_X + OUTLET_HALF];
    set(this.#outlet, 'd', `M${from} ${floor + 2}V${height - 2}M${to} ${floor + 2}V${height - 2}`);
    set(this.#outlet, 'visibility', row.capacityPerSecond === null ? 'hidden' : 'visible');
    this.#drawWorkers(workerMarks(row));
  }

  /** @param {boolean[]} marks */
  #drawWorkers(marks) {
    while (this.#workers.children.length > marks.length) this.#workers.lastChild?.remove();
    while (this.#workers.children.length < marks.length) this.#workers.append(h('i'));
    for (const [index, busy] of marks.entries()) this.#workers.children[index]?.classList.toggle('busy', busy);
  }

  /** @param {TypeRow} row */
  #sayState({ paused, behind, scarceForMs }) {
    const scarce = scarceForMs >= 1000;
    const kind = paused ? 'paused' : behind ? 'behind' : 'fine';
    const shown = `${kind}${scarce}`;
    if (shown === this.#shownState) return;
    this.#shownState = shown;
    const word = { paused: 'paused', behind: scarce ? 'behind, workers scarce' : 'behind', fine: 'keeps up' }[kind];
    const shape = { paused: PAUSED, behind: BEHIND, fine: FINE }[kind];
    set(this.#state, 'class', `state ${kind}`);
    this.#state.replaceChildren(glyph(shape), word);
  }
}

/** What the marks count, upwards beside them. */
function scaleName() {
  const place = { x: -(top + floor) / 2, y: 9, transform: 'rotate(-90)', 'text-anchor': 'middle' };
  return s('text', { class: 'mark-label', ...place }, 'jobs, log scale');
}

/** @param {number} jobs */
function mark(jobs) {
  const y = backlogY(jobs);
  const label = jobs >= 1000 ? `${jobs / 1000}k` : String(jobs);
  return [
    s('path', { class: 'mark', d: `M${left} ${y}h-7` }),
    s('text', { class: 'mark-label', x: left - 10, y: y + 3.5, 'text-anchor': 'end' }, label),
  ];
}
