/** @import { StreamState } from '../pure/stream-state.js' */
import { h, nameOf, say, set } from '../dom/element.js';
import { serverNow } from '../net/server-clock.js';
import { clock } from '../pure/format.js';
import { headline, sentence } from '../pure/headline.js';
import { hashOf } from '../pure/route.js';
import { showText } from '../pure/show-text.js';

/** Screen readers are told what has become another state, and at most so often. */
const ANNOUNCED_EVERY_MS = 10_000;

/** How things are, in one sentence above everything, and what time it is: a start is soon or late by that. */
export class HeadlineBar {
  element = h('p', { class: 'headline' });
  #clock = h('time', { class: 'now' });
  #announcer = document.getElementById('announcer');
  #shown = '';
  #announced = '';
  #announcedAt = Number.NEGATIVE_INFINITY;

  /** @param {StreamState} state @param {string} type */
  update(state, type) {
    const row = state.overview.get(type);
    if (row === undefined) return;
    const others = [...state.overview.values()].filter((other) => other.type !== type);
    const clauses = headline(row, state.summary, others, serverNow());
    const text = sentence(clauses);
    if (text === this.#shown) return;
    this.#shown = text;
    const parts = clauses.map(({ tone, words }) => {
      const children = words.map((word) => (typeof word === 'string' ? word : shownName(word, type)));
      return h('span', { class: `clause ${tone}` }, ...children);
    });
    const spoken = parts.flatMap((part, index) => (index === 0 ? [part] : ['; ', part]));
    this.element.replaceChildren(...spoken, ' ', this.#clock);
    this.tick();
    set(this.element, 'data-behind', String(row.behind));
    document.title = `${row.behind ? '▲ ' : ''}${showText(type)} – Headgate`;
    this.#announce(clauses.filter(({ tone }) => tone !== 'plain'));
  }

  tick() {
    say(this.#clock, `now ${clock(serverNow())}`);
  }

  /** @param {import('../pure/headline.js').Clause[]} clauses without numbers that are others every second */
  #announce(clauses) {
    const lasting = sentence(clauses).replace(/:[^;]*/g, '');
    const now = performance.now();
    if (this.#announcer === null || lasting === this.#announced || now - this.#announcedAt < ANNOUNCED_EVERY_MS) return;
    this.#announced = lasting;
    this.#announcedAt = now;
    this.#announcer.textContent = lasting;
  }
}

/** @param {{ name: string, tenant?: boolean }} word @param {string} type */
function shownName({ name, tenant }, type) {
  return tenant ? h('a', { href: hashOf({ page: 'tenant', type, tenant: name }) }, nameOf(name, 40)) : nameOf(name, 40);
}
