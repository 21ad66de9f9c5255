/** @import { Job } from '../pure/life-of-job.js' */
import { h, nameOf } from '../dom/element.js';
import { actionButton, Outcome } from '../dom/outcome.js';
import { ask, path } from '../net/api.js';
import { serverNow } from '../net/server-clock.js';
import { duration, moment } from '../pure/format.js';
import { hashOf, STATES } from '../pure/route.js';

const PAGE = 25;
const RELOADED_EVERY_MS = 5000;

/** The jobs of a bucket, state by state and page by page. */
export class JobTable {
  element;
  #type;
  #tenant;
  #state;
  #chosen;
  #outcome = new Outcome();
  #rows = h('tbody');
  #empty = h('p', { class: 'muted', role: 'status' });
  #more;
  /** @type {string | undefined} */
  #cursor;
  /** @type {ReturnType<typeof setInterval>} */
  #timer;
  #generation = 0;

  /** @param {string} type @param {string} tenant @param {string} state @param {(state: string) => void} chosen */
  constructor(type, tenant, state, chosen) {
    this.#type = type;
    this.#tenant = tenant;
    this.#state = state;
    this.#chosen = chosen;
    this.#more = actionButton('More', this.#outcome, () => this.#append());
    const choices = STATES.map((each) => {
      const input = h('input', {
        type: 'radio',
        name: 'state',
        value: each,
        checked: each === state,
        onchange: () => this.#choose(each),
      });
      return h('label', {}, input, h('span', {}, each));
    });
    const columns = ['job', 'admitted', 'start', 'attempts', 'outcome'].map((name) => h('th', { scope: 'col' }, name));
    const table = h(
      'table',
      {},
      h('caption', { class: 'unseen' }, 'Jobs'),
      h('thead', {}, h('tr', {}, ...columns)),
      this.#rows,
    );
    const states = h(
      'fieldset',
      { class: 'states' },
      h('legend', { class: 'unseen' }, 'State of the jobs'),
      ...choices,
    );
    const scroll = h(
      'div',
      { class: 'table-scroll', tabindex: '0', role: 'region', 'aria-label': 'List of jobs' },
      table,
    );
    this.element = h(
      'section',
      { class: 'panel jobs', 'aria-labelledby': 'jobs-title' },
      h('h2', { id: 'jobs-title' }, 'Jobs'),
      states,
    );
    this.element.append(this.#outcome.element, scroll, this.#empty, this.#more);
    this.#timer = setInterval(() => this.#refresh(), RELOADED_EVERY_MS);
    this.load();
  }

  close() {
    clearInterval(this.#timer);
    this.#generation += 1;
  }

  /** The first page, anew. */
  async load() {
    const generation = ++this.#generation;
    try {
      const { jobs, cursor } = await this.#page();
      if (generation !== this.#generation) return;
      this.#outcome.clear();
      this.#rows.replaceChildren(...jobs.map(tableRow));
      this.#end(cursor);
    } catch (error) {
      if (generation === this.#generation) this.#outcome.failed(error);
    }
  }

  async #append() {
    const generation = this.#generation;
    const { jobs, cursor } = await this.#page(this.#cursor);
    if (generation !== this.#generation) return;
    this.#rows.append(...jobs.map(tableRow));
    this.#end(cursor);
  }

  /** Who has gone further down, or has the keyboard in the table, keeps what is there. */
  #refresh() {
    const busy = this.#rows.children.length > PAGE || this.#rows.contains(document.activeElement);
    if (!document.hidden && !busy) this.load();
  }

  /** @param {string} [cursor] @returns {Promise<{ jobs: Job[], cursor?: string }>} */
  #page(cursor = '') {
    const asked = { type: this.#type, state: this.#state, tenant: this.#tenant, limit: PAGE, cursor };
    return ask('GET', path(['v1', 'jobs'], asked));
  }

  /** @param {string | undefined} cursor */
  #end(cursor) {
    this.#cursor = cursor;
    this.#more.hidden = cursor === undefined;
    this.#empty.textContent = this.#rows.children.length === 0 ? `No job is ${this.#state}.` : '';
  }

  /** @param {string} state */
  #choose(state) {
    this.#state = state;
    this.#chosen(state);
    this.load();
  }
}

/** @param {Job} job */
function tableRow({ id, tenant, createdAt, startedAt, releaseAt, basis, endedAt, attempts, state, error, slipMs }) {
  const now = serverNow();
  const time = (/** @type {string | null} */ at) => (at === null ? '–' : moment(Date.parse(at), now));
  const start = startedAt === null ? `${time(releaseAt)}${basis === null ? '' : ` by ${basis}`}` : time(startedAt);
  const ran =
    startedAt === null || endedAt === null ? '' : `ran ${duration(Date.parse(endedAt) - Date.parse(startedAt))}`;
  const outcome = error === undefined ? [ran === '' ? state : ran] : [nameOf(error, 80)];
  const link = h('a', { href: hashOf({ page: 'job', id, tenant }) }, h('code', {}, shortId(id)));
  const late = slipMs === null || slipMs <= 0 ? '' : `, ${duration(slipMs)} late`;
  const cells = [
    h('td', {}, link),
    h('td', {}, time(createdAt)),
    h('td', {}, start + late),
    h('td', {}, String(attempts)),
    h('td', {}, ...outcome),
  ];
  return h('tr', {}, ...cells);
}

/** The end of the part of an id that differs from those of other jobs. @param {string} id */
function shortId(id) {
  const [unique = id] = id.split('.');
  return unique.length > 12 ? `…${unique.slice(-10)}` : unique;
}
