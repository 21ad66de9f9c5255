/** @import { Context } from '../pages.js' */
/** @import { StreamState } from '../pure/stream-state.js' */
import { h, say, set } from '../dom/element.js';
import { serverNow } from '../net/server-clock.js';
import { count } from '../pure/format.js';
import { hashOf, SORTS } from '../pure/route.js';
import { BucketList } from './bucket-list.js';
import { FairnessPanel } from './fairness-panel.js';
import { FlowChart } from './flow-chart.js';
import { HeadlineBar } from './headline-bar.js';
import { ReservoirCard } from './reservoir-card.js';

const SEARCHED_AFTER_MS = 200;
const SORT_NAMES = { trouble: 'trouble first', tenant: 'name', level: 'level', waiting: 'waiting' };

/** Every type as a reservoir, and the buckets of one. */
export class OverviewPage {
  element;
  title = 'Overview';
  #context;
  #route;
  #headline = new HeadlineBar();
  #reservoirs = h('ul', { class: 'reservoirs', 'aria-label': 'Types' });
  /** @type {Map<string, ReservoirCard>} */
  #cards = new Map();
  #fairness = new FairnessPanel();
  #flow = new FlowChart('Cost units per second', [
    { name: 'in', color: '--in', dash: [6, 4] },
    { name: 'out', color: '--out', filled: true },
    { name: 'refused', color: '--bad', dash: [2, 3] },
  ]);
  #jobs = new FlowChart('Jobs', [
    { name: 'waiting', color: '--out', filled: true },
    { name: 'running', color: '--in', dash: [6, 4] },
  ]);
  #list;
  #found = h('p', { class: 'muted', role: 'status' });
  #search;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #searching;

  /** @param {Context} context @param {import('../pure/route.js').Route} route */
  constructor(context, route) {
    this.#context = context;
    this.#route = route;
    this.#list = new BucketList(() => this.#look());
    this.#search = h('input', {
      type: 'search',
      id: 'search',
      placeholder: 'Search tenants',
      autocomplete: 'off',
      spellcheck: 'false',
      oninput: () => this.#type(),
    });
    this.#search.value = route.q;
    const options = SORTS.map((sort) => h('option', { value: sort, selected: sort === route.sort }, SORT_NAMES[sort]));
    const sort = h(
      'select',
      { id: 'sort', onchange: (event) => this.#change({ sort: event.target.value }) },
      ...options,
    );
    const tools = h(
      'div',
      { class: 'tools' },
      h('label', { for: 'search', class: 'unseen' }, 'Search tenants'),
      this.#search,
    );
    tools.append(h('span', { class: 'sort' }, h('label', { for: 'sort' }, 'Sort by'), sort), this.#found);
    const tenants = h(
      'section',
      { class: 'tenants', 'aria-labelledby': 'tenants-title' },
      h('h2', { id: 'tenants-title' }, 'Tenants'),
      tools,
      this.#list.element,
    );
    const time = h(
      'section',
      { class: 'panel', 'aria-label': 'The last 15 minutes' },
      this.#flow.element,
      this.#jobs.element,
    );
    const aside = h('div', { class: 'aside' }, this.#fairness.element, time);
    const top = h(
      'div',
      { class: 'top' },
      h('h1', { class: 'unseen' }, 'Overview'),
      this.#headline.element,
      this.#reservoirs,
    );
    this.element = h('div', { class: 'overview' }, top, aside, tenants);
    this.#look();
  }

  close() {
    clearTimeout(this.#searching);
    this.#list.close();
    this.#flow.close();
    this.#jobs.close();
  }

  /** @param {StreamState} state */
  update(state) {
    const { type } = state.view;
    if (type === '') return;
    // The server has said which type is the first.
    if (type !== this.#route.type) this.#route = { ...this.#route, type };
    this.#headline.update(state, type);
    this.#updateReservoirs(state, type);
    // A tenant sees nothing of others.
    this.#fairness.element.hidden = state.hello?.role === 'tenant';
    this.#fairness.update(state, type);
    this.#flow.update(state.history.points);
    this.#jobs.update(onlyJobs(state.history.points));
    this.#list.update(state, serverNow());
    const { buckets } = state;
    if (buckets !== null) say(this.#found, foundWords(buckets.total, this.#route.q));
  }

  tick() {
    this.#headline.tick();
    this.#list.tick(serverNow());
  }

  /** @param {StreamState} state @param {string} type */
  #updateReservoirs({ hello, overview }, type) {
    const types = (hello?.types ?? []).filter((each) => overview.has(each));
    for (const each of types) {
      const row = overview.get(each);
      const known = this.#cards.get(each);
      const card = known ?? new ReservoirCard(each);
      if (known === undefined) {
        this.#cards.set(each, card);
        this.#reservoirs.append(card.element);
      }
      if (row !== undefined) card.update(row, each === type);
    }
    set(this.#reservoirs, 'data-count', types.length);
  }

  #type() {
    clearTimeout(this.#searching);
    this.#searching = setTimeout(() => this.#change({ q: this.#search.value }), SEARCHED_AFTER_MS);
  }

  /** What is searched for stands in the address, and the page is not made anew for it. @param {Partial<import('../pure/route.js').Route>} change */
  #change(change) {
    this.#route = { ...this.#route, ...change };
    history.replaceState(null, '', hashOf(this.#route));
    this.#list.toTop();
    this.#look();
  }

  #look() {
    const { type, q, sort } = this.#route;
    this.#context.stream.look({ type, q, sort, ...this.#list.window, tenant: null });
  }
}

/** @type {WeakMap<(number | null)[][], (number | null)[][]>} */
const jobsOf = new WeakMap();

/** @param {(number | null)[][]} points */
function onlyJobs(points) {
  const known = jobsOf.get(points) ?? points.map(([at = 0, , , , waiting = 0, running = 0]) => [at, waiting, running]);
  jobsOf.set(points, known);
  return known;
}

/** @param {number} total @param {string} q */
function foundWords(total, q) {
  const tenants = `${count(total)} ${total === 1 ? 'tenant' : 'tenants'}`;
  return q === '' ? tenants : `${tenants} found`;
}
