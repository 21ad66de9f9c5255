/** @import { BucketRow } from '../pure/stream-state.js' */

import { BucketPicture } from '../dom/bucket-picture.js';
import { h, nameOf, say, set } from '../dom/element.js';
import { badges } from '../dom/glyph.js';
import { clock, count, countdown, duration, rate } from '../pure/format.js';
import { hashOf } from '../pure/route.js';

/** A start that is due by less is under way. */
const LATE_MS = 1000;

/** One bucket among many, as a card that leads to its page. */
export class BucketCard {
  element;
  #picture = new BucketPicture();
  #badges = h('span', { class: 'badges' });
  #waiting = h('strong');
  #of = h('span', { class: 'muted' });
  #running = h('span', { class: 'muted' });
  #next = h('span', { class: 'next' });
  #refused = h('span', { class: 'refused' });
  /** @type {BucketRow | null} */
  #row = null;
  #shownTroubles = '';

  /** @param {string} type @param {string} tenant */
  constructor(type, tenant) {
    const link = h('a', { href: hashOf({ page: 'tenant', type, tenant }), class: 'card-link' }, nameOf(tenant, 40));
    const jobs = h('p', {}, this.#waiting, this.#of);
    const facts = h('div', { class: 'facts' }, h('h3', {}, link), this.#badges, jobs, h('p', {}, this.#running));
    facts.append(h('p', {}, this.#next), h('p', {}, this.#refused));
    this.element = h('li', { class: 'bucket' }, this.#picture.element, facts);
  }

  /** @param {BucketRow} row @param {number} now */
  update(row, now) {
    if (row === this.#row) return;
    this.#row = row;
    const jobs = row.waiting + row.delayed;
    say(this.#waiting, count(jobs));
    const of = row.depth === null ? '' : ` of ${count(row.depth)}`;
    say(this.#of, `${of} wait${row.delayed > 0 ? `, ${count(row.delayed)} delayed` : ''}`);
    say(this.#running, `${count(row.running)} running · ${rate(row.ratePerSecond)}`);
    say(this.#refused, row.refusedPerMinute > 0 ? `${count(row.refusedPerMinute)} refused/min` : '');
    this.#sayTroubles(row);
    this.#picture.update(row, now);
    this.#sayNext(now);
  }

  /** @param {number} now */
  tick(now) {
    this.#sayNext(now);
    this.#picture.tick(now);
  }

  /** @param {BucketRow} row */
  #sayTroubles({ trouble }) {
    const shown = trouble.join();
    if (shown === this.#shownTroubles) return;
    this.#shownTroubles = shown;
    this.#badges.replaceChildren(...badges(trouble));
    set(this.element, 'class', ['bucket', ...trouble].join(' '));
  }

  /** @param {number} now */
  #sayNext(now) {
    const at = this.#row?.waiting ? this.#row.nextStartAt : null;
    say(this.#next, at === null ? nothingStarts(this.#row) : nextStart(Date.parse(at), now));
  }
}

/** @param {BucketRow | null} row */
function nothingStarts(row) {
  if (row === null) return '';
  return row.paused ? 'nothing starts' : '';
}

/** @param {number} atMs @param {number} now */
function nextStart(atMs, now) {
  const time = clock(atMs, { tenths: true });
  return now - atMs < LATE_MS
    ? `next ${time} · ${countdown(atMs - now)}`
    : `due ${time} · ${duration(now - atMs)} late`;
}
