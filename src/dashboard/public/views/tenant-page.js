/** @import { Context } from '../pages.js' */
/** @import { Route } from '../pure/route.js' */
/** @import { BucketRow, StreamState } from '../pure/stream-state.js' */
import { BucketPicture } from '../dom/bucket-picture.js';
import { h, nameOf } from '../dom/element.js';
import { facts } from '../dom/facts.js';
import { badges } from '../dom/glyph.js';
import { serverNow } from '../net/server-clock.js';
import { clock, count, countdown, duration, percent, rate, units } from '../pure/format.js';
import { hashOf } from '../pure/route.js';
import { showText } from '../pure/show-text.js';
import { FlowChart } from './flow-chart.js';
import { JobTable } from './job-table.js';
import { TenantActions } from './tenant-actions.js';

/** A start that is due by less is under way. */
const LATE_MS = 1000;
const PERCENTILES = /** @type {const} */ (['p50', 'p90', 'p99']);

/** One bucket: what goes in and out of it, how long jobs wait, its jobs, and what may be done about it. */
export class TenantPage {
  element;
  title;
  #route;
  #picture = new BucketPicture();
  #badges = h('p', { class: 'badges', role: 'status' });
  #facts = facts(['waiting', 'next start', 'running', 'rate', 'level', 'refused', 'share', 'weight']);
  #waits = h('div', { class: 'waits' });
  #chart = new FlowChart(
    'In, out and refused',
    [
      { name: 'in', color: '--in', dash: [6, 4] },
      { name: 'out', color: '--out', filled: true },
      { name: 'refused', color: '--bad', dash: [2, 3] },
    ],
    150,
  );
  #jobs;
  #actions;
  /** @type {BucketRow | null} */
  #row = null;
  #shownWaits = '';

  /** @param {Context} context @param {Route} route */
  constructor(context, route) {
    const { type, tenant } = route;
    this.#route = route;
    this.title = `${showText(tenant)}, ${showText(type)}`;
    this.#jobs = new JobTable(type, tenant, route.state, (state) => {
      this.#route = { ...this.#route, state };
      history.replaceState(null, '', hashOf(this.#route));
    });
    this.#actions = context.session.role === 'admin' ? new TenantActions(type, tenant, () => this.#jobs.load()) : null;
    const back = h('a', { class: 'back', href: hashOf({ type }) }, '← ', nameOf(type));
    const submit = h('a', { class: 'button plain', href: hashOf({ page: 'submit', type, tenant }) }, 'Submit a job');
    const head = h('div', { class: 'page-head' }, back, h('h1', {}, nameOf(tenant)), this.#badges, submit);
    const bucket = h(
      'section',
      { class: 'panel big-bucket', 'aria-label': 'Bucket' },
      this.#picture.element,
      this.#facts.element,
    );
    const waits = h(
      'section',
      { class: 'panel', 'aria-labelledby': 'waits-title' },
      h('h2', { id: 'waits-title' }, 'Waits'),
      this.#waits,
    );
    const chart = h('section', { class: 'panel wide', 'aria-label': 'The last 15 minutes' }, this.#chart.element);
    const parts = [bucket, ...(this.#actions === null ? [] : [this.#actions.element]), waits, chart];
    this.element = h('div', { class: 'detail' }, head, h('div', { class: 'panels' }, ...parts), this.#jobs.element);
    context.stream.look({ type, q: '', sort: 'trouble', from: 0, count: 1, tenant });
  }

  close() {
    this.#chart.close();
    this.#jobs.close();
    this.#actions?.close();
  }

  /** @param {StreamState} state */
  update({ tenant }) {
    if (tenant === null || tenant.tenant !== this.#route.tenant) return;
    this.#chart.update(tenant.points);
    this.#updateWaits(tenant.waitMs);
    if (tenant.row !== null) this.#updateRow(tenant.row);
  }

  tick() {
    this.#picture.tick(serverNow());
    this.#sayNext();
  }

  /** @param {BucketRow} row */
  #updateRow(row) {
    const { say: fact } = this.#facts;
    if (this.#row?.trouble.join() !== row.trouble.join()) this.#badges.replaceChildren(...badges(row.trouble));
    this.#row = row;
    this.#picture.update(row, serverNow());
    const waiting =
      row.depth === null
        ? count(row.waiting + row.delayed)
        : `${count(row.waiting + row.delayed)} of ${count(row.depth)}`;
    fact('waiting', row.delayed > 0 ? `${waiting}, ${count(row.delayed)} delayed` : waiting);
    fact('running', count(row.running));
    fact('rate', rate(row.ratePerSecond));
    fact('level', `${units(row.level)} of burst ${units(row.burst)}`);
    fact('refused', `${count(row.refusedPerMinute)}/min`);
    fact('weight', units(row.weight));
    fact(
      'share',
      row.received === null || row.deserved === null
        ? '–'
        : `${percent(row.received)} of ${percent(row.deserved)} deserved`,
    );
    this.#actions?.update(row);
    this.#sayNext();
  }

  #sayNext() {
    const { waiting = 0, nextStartAt = null, paused = false } = this.#row ?? {};
    if (paused) this.#facts.say('next start', 'none while paused');
    else if (waiting === 0 || nextStartAt === null) this.#facts.say('next start', '–');
    else this.#facts.say('next start', startWords(Date.parse(nextStartAt), serverNow()));
  }

  /** @param {{ p50: number, p90: number, p99: number } | null} waitMs */
  #updateWaits(waitMs) {
    const shown = JSON.stringify(waitMs);
    if (shown === this.#shownWaits) return;
    this.#shownWaits = shown;
    if (waitMs === null) return this.#waits.replaceChildren(h('p', { class: 'muted' }, 'No job has started yet.'));
    const largest = Math.max(1, waitMs.p99);
    const rows = PERCENTILES.map((name) => {
      const bar = h('i', { 'aria-hidden': 'true' });
      bar.style.setProperty('width', `${Math.max(0.5, (waitMs[name] / largest) * 100)}%`);
      return h(
        'div',
        {},
        h('dt', {}, `${name.slice(1)} %`),
        h('dd', {}, bar, h('span', {}, `within ${duration(waitMs[name])}`)),
      );
    });
    this.#waits.replaceChildren(h('dl', { class: 'wait-bars' }, ...rows));
  }
}

/** @param {number} atMs @param {number} now */
function startWords(atMs, now) {
  const time = clock(atMs, { tenths: true });
  return now - atMs < LATE_MS ? `${time}, ${countdown(atMs - now)}` : `${duration(now - atMs)} late: waits for a slot`;
}
