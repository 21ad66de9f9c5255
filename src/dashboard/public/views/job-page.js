/** @import { Context } from '../pages.js' */
/** @import { Route } from '../pure/route.js' */
/** @import { Job } from '../pure/life-of-job.js' */
import { h, nameOf, say } from '../dom/element.js';
import { actionButton, Outcome } from '../dom/outcome.js';
import { ask, path } from '../net/api.js';
import { JobEvents } from '../net/job-events.js';
import { serverNow } from '../net/server-clock.js';
import { clock, countdown, duration, moment } from '../pure/format.js';
import { hasEnded, lifeOfJob } from '../pure/life-of-job.js';
import { hashOf } from '../pure/route.js';

const SHOWN_CHARACTERS = 100_000;

/** One job: its life as a line, what it was given and what it gave, and what may be done about it. */
export class JobPage {
  element;
  title;
  #context;
  #route;
  #events;
  #outcome = new Outcome();
  #line = h('ol', { class: 'life' });
  #summary = h('p', { class: 'lead', role: 'status' });
  #where = h('p', { class: 'muted' });
  #cancel;
  #retry;
  #output = h('pre', { class: 'output', tabindex: '0', 'aria-label': 'Output' });
  #outputPanel;
  /** @type {Job | null} */
  #job = null;
  /** How often an end was heard of. */
  #ends = 0;

  /** @param {Context} context @param {Route} route */
  constructor(context, route) {
    this.#context = context;
    this.#route = route;
    this.title = `Job ${route.id}`;
    this.#cancel = actionButton('Cancel', this.#outcome, () => this.#askToCancel(), 'danger');
    this.#retry = actionButton('Retry', this.#outcome, () => this.#askToRetry());
    this.#cancel.hidden = true;
    this.#retry.hidden = true;
    const payload = new OnDemand('payload', this.#outcome, () => this.#payload());
    const result = new OnDemand('result', this.#outcome, () => this.#result());
    const head = h(
      'div',
      { class: 'page-head' },
      h('h1', { class: 'job-id' }, 'Job ', h('code', {}, route.id)),
      this.#where,
    );
    const buttons = h('div', { class: 'buttons' }, this.#cancel, this.#retry, payload.button, result.button);
    const life = h(
      'section',
      { class: 'panel wide', 'aria-labelledby': 'life-title' },
      h('h2', { id: 'life-title' }, 'Life'),
      this.#summary,
      this.#line,
      buttons,
    );
    life.append(this.#outcome.element, payload.shown, result.shown);
    this.#outputPanel = h(
      'section',
      { class: 'panel wide', 'aria-label': 'Output', hidden: true },
      h('h2', {}, 'Output'),
      this.#output,
    );
    this.element = h('div', { class: 'detail' }, head, h('div', { class: 'panels' }, life, this.#outputPanel));
    this.#events = new JobEvents(this.#address('events'), (name, data) => this.#hear(name, data));
    context.stream.look({ ...context.stream.state.view, from: 0, count: 1, tenant: null });
    this.#load();
  }

  close() {
    this.#events.close();
  }

  update() {}

  tick() {
    if (this.#job !== null) say(this.#summary, summaryOf(this.#job, serverNow()));
  }

  /** @param {...string} rest */
  #address(...rest) {
    const tenant = this.#context.session.role === 'admin' ? this.#route.tenant : '';
    return path(['v1', 'jobs', this.#route.id, ...rest], { tenant });
  }

  async #load() {
    const before = this.#ends;
    try {
      this.#show(await ask('GET', this.#address()));
      // The answer may be from before the end that was heard meanwhile.
      if (this.#ends !== before) await this.#load();
    } catch (error) {
      this.#outcome.failed(error);
    }
  }

  /** @param {string} name @param {any} data */
  #hear(name, data) {
    if (name === 'output') return this.#emitted(data.chunk);
    if (name === 'end') this.#ends += 1;
    if (this.#job === null) return;
    if (name === 'progress' || name === 'promise') this.#show({ ...this.#job, ...data });
    // What is kept of an ended job may be nothing: then its last state stands, and the list says the rest.
    else if (data.state !== null) this.#show({ ...this.#job, ...data });
  }

  /** @param {unknown} chunk */
  #emitted(chunk) {
    this.#outputPanel.hidden = false;
    const text = typeof chunk === 'string' ? chunk : `${JSON.stringify(chunk)}\n`;
    if ((this.#output.textContent ?? '').length < SHOWN_CHARACTERS) this.#output.append(text);
  }

  /** @param {Job} job */
  #show(job) {
    this.#job = job;
    const now = serverNow();
    const { tenant, type, state, cancelRequested } = job;
    this.#where.replaceChildren(
      'of ',
      h('a', { href: hashOf({ page: 'tenant', type, tenant }) }, nameOf(tenant)),
      ' in ',
      h('a', { href: hashOf({ type }) }, nameOf(type)),
    );
    say(this.#summary, summaryOf(job, now));
    this.#cancel.hidden = hasEnded(state) || cancelRequested;
    this.#retry.hidden = state !== 'failed';
    this.#line.replaceChildren(
      ...lifeOfJob(job).map(({ name, atMs, when, note }) => {
        const time = atMs === null ? '' : moment(atMs, now);
        const marks = h('span', { class: 'unseen' }, { past: '', now: ' (now)', ahead: ' (not yet)' }[when]);
        return h(
          'li',
          { class: `${when} ${name}` },
          h('strong', {}, name, marks),
          h('span', {}, time),
          h('span', { class: 'muted' }, note),
        );
      }),
    );
  }

  async #askToCancel() {
    const { state } = await ask('DELETE', this.#address());
    this.#outcome.done(state === 'cancelled' ? 'Cancelled.' : 'Asked to stop; whoever runs it decides how it ends.');
    await this.#load();
  }

  async #askToRetry() {
    this.#show(await ask('POST', this.#address('retry')));
    this.#outcome.done('It waits again.');
    this.#events.follow();
  }

  async #payload() {
    const tenant = this.#job?.tenant ?? this.#route.tenant;
    const asked = this.#context.session.role === 'admin' ? { tenant } : {};
    const { data } = await ask('GET', path(['dashboard', 'jobs', this.#route.id, 'payload'], asked));
    return data;
  }

  async #result() {
    const job = await ask('GET', this.#address());
    if ('result' in job) return job.result;
    return job.error ?? `none while the job is ${job.state}`;
  }
}

/** Something that may be large or private, and is fetched when somebody asks to see it. */
class OnDemand {
  button;
  shown = h('pre', { hidden: true, tabindex: '0' });

  /** @param {string} name @param {Outcome} outcome @param {() => Promise<unknown>} fetchIt */
  constructor(name, outcome, fetchIt) {
    this.shown.setAttribute('aria-label', name);
    this.button = actionButton(`Show ${name}`, outcome, async () => {
      this.shown.hidden = !this.shown.hidden;
      say(this.button, `${this.shown.hidden ? 'Show' : 'Hide'} ${name}`);
      if (this.shown.hidden) return;
      say(this.shown, '…');
      const text = JSON.stringify(await fetchIt(), null, 2) ?? 'nothing';
      say(
        this.shown,
        text.length > SHOWN_CHARACTERS
          ? `${text.slice(0, SHOWN_CHARACTERS)}\n… and ${text.length - SHOWN_CHARACTERS} characters more`
          : text,
      );
    });
  }
}

/** @param {Job} job @param {number} now */
function summaryOf({ state, releaseAt, startedAt, endedAt, createdAt, cancelRequested }, now) {
  const at = (/** @type {string} */ text) => Date.parse(text);
  if (state === 'waiting' || state === 'delayed') {
    if (releaseAt === null) return `It is ${state}; nobody can say when it starts.`;
    return `It is ${state} and starts at ${clock(at(releaseAt), { tenths: true })}, ${countdown(at(releaseAt) - now)}.`;
  }
  if (state === 'active') {
    const running = startedAt === null ? '' : ` for ${duration(Math.max(0, now - at(startedAt)))}`;
    return `It has been running${running}${cancelRequested ? ', and was asked to stop' : ''}.`;
  }
  if (endedAt === null) return `It is ${state}.`;
  if (startedAt === null) return `It is ${state}, without having started.`;
  const waited = createdAt === null ? '' : ` after a wait of ${duration(at(startedAt) - at(createdAt))}`;
  return `It is ${state}: it ran ${duration(at(endedAt) - at(startedAt))}${waited}.`;
}
