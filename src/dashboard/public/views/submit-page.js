/** @import { Context } from '../pages.js' */
/** @import { Route } from '../pure/route.js' */
/** @import { StreamState } from '../pure/stream-state.js' */
import { h, say, set } from '../dom/element.js';
import { Outcome } from '../dom/outcome.js';
import { ask, Refused } from '../net/api.js';
import { serverNow } from '../net/server-clock.js';
import { curlLine } from '../pure/curl-line.js';
import { countdown, moment } from '../pure/format.js';
import { readDraft } from '../pure/job-draft.js';
import { hashOf } from '../pure/route.js';

/** A form that posts one job, and the command that posts the same. */
export class SubmitPage {
  element;
  title = 'Submit a job';
  #context;
  #route;
  #outcome = new Outcome();
  #type = h('select', { id: 'job-type', name: 'type' });
  #tenant = h('input', { id: 'job-tenant', name: 'tenant', autocomplete: 'off', spellcheck: 'false' });
  #data = h(
    'textarea',
    { id: 'job-data', name: 'data', rows: 7, spellcheck: 'false', 'aria-describedby': 'job-fault' },
    '{\n  "hello": "world"\n}',
  );
  #priority;
  #delay = h('input', {
    id: 'job-delay',
    name: 'delay',
    inputmode: 'decimal',
    placeholder: '0',
    autocomplete: 'off',
    'aria-describedby': 'job-fault',
  });
  #fault = h('p', { class: 'fault', id: 'job-fault', role: 'status' });
  #curl = h('pre', { class: 'curl', tabindex: '0', 'aria-label': 'The same as a command' });
  #send = h('button', { type: 'submit', class: 'main' }, 'Submit');

  /** @param {Context} context @param {Route} route */
  constructor(context, route) {
    this.#context = context;
    this.#route = route;
    const priorities = Array.from({ length: 10 }, (_, index) => {
      const name = { 0: '0, first', 4: '4, as usual', 9: '9, last' }[index] ?? String(index);
      return h('option', { value: index, selected: index === 4 }, name);
    });
    this.#priority = h('select', { id: 'job-priority', name: 'priority' }, ...priorities);
    this.#tenant.value = route.tenant;
    const admin = context.session.role === 'admin';
    const form = h('form', {
      class: 'panel submit',
      onsubmit: (event) => this.#submit(event),
      oninput: () => this.#show(),
      novalidate: true,
    });
    form.append(
      field('Type', this.#type),
      ...(admin ? [field('Tenant', this.#tenant)] : []),
      field('Payload, a JSON object', this.#data),
    );
    form.append(
      h('div', { class: 'pair-of-fields' }, field('Priority', this.#priority), field('Delay in seconds', this.#delay)),
    );
    form.append(this.#fault, h('div', { class: 'buttons' }, this.#send), this.#outcome.element);
    const copy = h('button', { type: 'button', class: 'plain', onclick: () => this.#copy() }, 'Copy');
    const command = h(
      'section',
      { class: 'panel', 'aria-labelledby': 'curl-title' },
      h('div', { class: 'panel-head' }, h('h2', { id: 'curl-title' }, 'The same with curl'), copy),
      this.#curl,
    );
    command.append(h('p', { class: 'muted' }, 'The key is not in it: put yours into HEADGATE_KEY.'));
    this.element = h(
      'div',
      { class: 'detail' },
      h('div', { class: 'page-head' }, h('h1', {}, 'Submit a job')),
      h('div', { class: 'panels' }, form, command),
    );
    context.stream.look({ ...context.stream.state.view, from: 0, count: 1, tenant: null });
    this.update(context.stream.state);
    this.#show();
  }

  close() {}

  tick() {}

  /** @param {StreamState} state */
  update({ hello }) {
    const types = hello?.types ?? [];
    if (types.length === this.#type.options.length) return;
    const chosen = this.#type.value || this.#route.type;
    this.#type.replaceChildren(...types.map((type) => h('option', { value: type, selected: type === chosen }, type)));
    this.#show();
  }

  #draft() {
    return readDraft({
      type: this.#type.value,
      tenant: this.#context.session.role === 'admin' ? this.#tenant.value : '',
      data: this.#data.value,
      priority: this.#priority.value,
      delay: this.#delay.value,
    });
  }

  #show() {
    const draft = this.#draft();
    const faulty = draft.outcome === 'faulty';
    set(this.#data, 'aria-invalid', faulty && draft.field === 'data' ? 'true' : null);
    set(this.#delay, 'aria-invalid', faulty && draft.field === 'delay' ? 'true' : null);
    say(this.#fault, faulty ? draft.message : '');
    if (!faulty) say(this.#curl, curlLine(location.origin, draft.job));
  }

  /** @param {SubmitEvent} event */
  async #submit(event) {
    event.preventDefault();
    const draft = this.#draft();
    if (draft.outcome === 'faulty') return (draft.field === 'data' ? this.#data : this.#delay).focus();
    if (this.#send.getAttribute('aria-disabled') === 'true') return;
    this.#send.setAttribute('aria-disabled', 'true');
    try {
      const { id, tenant, state, position, releaseAt, basis } = await ask('POST', '/v1/jobs', draft.job);
      const link = h('a', { href: hashOf({ page: 'job', id, tenant }) }, 'Follow it');
      this.#outcome.done(promiseWords(state, position, releaseAt, basis), ' ', link);
    } catch (error) {
      this.#outcome.failed(error);
      if (error instanceof Refused && error.field === 'tenant') this.#tenant.focus();
    }
    this.#send.removeAttribute('aria-disabled');
  }

  async #copy() {
    // Where the page was not loaded over TLS or from this machine there is no clipboard: the text can be marked.
    if (navigator.clipboard === undefined) return getSelection()?.selectAllChildren(this.#curl);
    await navigator.clipboard.writeText(this.#curl.textContent ?? '');
    this.#outcome.done('Copied.');
  }
}

/** @param {string} label @param {HTMLElement} control */
function field(label, control) {
  return h('div', { class: 'field' }, h('label', { for: control.id }, label), control);
}

/** @param {string} state @param {number | null} position @param {string | null} releaseAt @param {string | null} basis */
function promiseWords(state, position, releaseAt, basis) {
  const place = position === null ? '' : ` at position ${position}`;
  if (releaseAt === null) return `Taken: ${state}${place}; nobody can say when it starts.`;
  const atMs = Date.parse(releaseAt);
  return `Taken: ${state}${place}, starts at ${moment(atMs, serverNow())} (${countdown(atMs - serverNow())}), by ${basis}.`;
}
