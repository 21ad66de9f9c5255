/** @import { BucketRow } from '../pure/stream-state.js' */
import { askFirst } from '../dom/ask-first.js';
import { h, nameOf, say } from '../dom/element.js';
import { actionButton, Outcome } from '../dom/outcome.js';
import { ask, path } from '../net/api.js';
import { serverNow } from '../net/server-clock.js';
import { count } from '../pure/format.js';
import { previewSentence } from '../pure/preview-sentence.js';

const PREVIEWED_AFTER_MS = 250;

/** What an admin may do about a bucket: pause, resume, purge, and another rate, with what that would do. */
export class TenantActions {
  element;
  #type;
  #tenant;
  #changed;
  #outcome = new Outcome();
  #preview = h('p', { class: 'preview', id: 'preview', role: 'status' });
  #rate;
  #current = h('span', { class: 'muted' });
  #pause;
  #resume;
  /** @type {BucketRow | null} */
  #row = null;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;
  #generation = 0;

  /** @param {string} type @param {string} tenant @param {() => void} changed its jobs may be others now */
  constructor(type, tenant, changed) {
    this.#type = type;
    this.#tenant = tenant;
    this.#changed = changed;
    this.#pause = actionButton('Pause', this.#outcome, () => this.#order('pause', 'Paused: nothing more starts.'));
    this.#resume = actionButton('Resume', this.#outcome, () => this.#order('resume', 'Resumed.'));
    const purge = actionButton('Purge …', this.#outcome, () => this.#purge(), 'danger');
    this.#rate = h('input', {
      id: 'rate',
      autocomplete: 'off',
      spellcheck: 'false',
      placeholder: '2/s',
      'aria-describedby': 'preview',
      oninput: () => this.#previewSoon(),
    });
    const apply = h('button', { type: 'submit', class: 'main' }, 'Change rate');
    const line = h('div', { class: 'rate-line' }, this.#rate, apply);
    const form = h(
      'form',
      { class: 're-rate', onsubmit: (event) => this.#apply(event) },
      h('label', { for: 'rate' }, 'Another rate'),
      line,
    );
    form.append(this.#current, this.#preview);
    const buttons = h('div', { class: 'buttons' }, this.#pause, this.#resume, purge);
    this.element = h(
      'section',
      { class: 'panel actions', 'aria-labelledby': 'actions-title' },
      h('h2', { id: 'actions-title' }, 'Change'),
    );
    this.element.append(form, buttons, this.#outcome.element);
    this.#resume.hidden = true;
    this.#sayRate();
  }

  close() {
    clearTimeout(this.#timer);
    this.#generation += 1;
  }

  /** @param {BucketRow} row */
  update(row) {
    this.#row = row;
    if (this.#pause.hidden === row.paused) return;
    const hadFocus = this.element.contains(document.activeElement) && document.activeElement?.tagName === 'BUTTON';
    this.#pause.hidden = row.paused;
    this.#resume.hidden = !row.paused;
    if (hadFocus) (row.paused ? this.#resume : this.#pause).focus();
  }

  async #sayRate() {
    try {
      const { types } = await ask('GET', path(['v1', 'tenants', this.#tenant]));
      const rate = types?.[this.#type]?.profile?.rate;
      if (rate !== undefined)
        say(this.#current, `now ${rate.value}, from ${rate.from === 'override' ? 'a change at run time' : rate.at}`);
    } catch (error) {
      this.#outcome.failed(error);
    }
  }

  /** @param {'pause' | 'resume'} order @param {string} done */
  async #order(order, done) {
    await ask('POST', path(['v1', 'tenants', this.#tenant, order], { type: this.#type }));
    this.#outcome.done(done);
    this.#changed();
  }

  async #purge() {
    const waiting = (this.#row?.waiting ?? 0) + (this.#row?.delayed ?? 0);
    const body = [
      `Cancels ${count(waiting)} waiting ${waiting === 1 ? 'job' : 'jobs'} of `,
      nameOf(this.#tenant),
      '. What runs is left alone. This cannot be undone.',
    ];
    if (!(await askFirst({ title: 'Purge what waits?', body, action: 'Purge', otherwise: 'Keep them' }))) return;
    const { cancelled, more } = await ask('POST', path(['v1', 'tenants', this.#tenant, 'purge'], { type: this.#type }));
    this.#outcome.done(`${count(cancelled)} cancelled${more ? ', and more are left: purge again' : ''}.`);
    this.#changed();
  }

  #previewSoon() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#showPreview(), PREVIEWED_AFTER_MS);
  }

  async #showPreview() {
    const generation = ++this.#generation;
    const rate = this.#rate.value.trim();
    if (rate === '') return say(this.#preview, '');
    const text = await this.#previewText(rate);
    if (generation === this.#generation) say(this.#preview, text);
  }

  /** @param {string} rate */
  async #previewText(rate) {
    try {
      const answer = await ask('POST', '/dashboard/preview', { type: this.#type, tenant: this.#tenant, rate });
      return previewSentence(answer, serverNow());
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  }

  /** @param {SubmitEvent} event */
  async #apply(event) {
    event.preventDefault();
    this.#outcome.clear();
    try {
      const rate = this.#rate.value.trim();
      await ask('PATCH', path(['v1', 'tenants', this.#tenant]), { types: { [this.#type]: { rate } } });
      this.#rate.value = '';
      this.#generation += 1;
      say(this.#preview, '');
      this.#outcome.done(`The rate is ${rate} now; what waits was re-timed.`);
      this.#changed();
      await this.#sayRate();
    } catch (error) {
      this.#outcome.failed(error);
    }
  }
}
