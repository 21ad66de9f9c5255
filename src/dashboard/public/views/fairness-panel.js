/** @import { Share, StreamState } from '../pure/stream-state.js' */
import { h, nameOf, say } from '../dom/element.js';
import { fairnessWords } from '../pure/fairness-words.js';
import { percent } from '../pure/format.js';
import { hashOf } from '../pure/route.js';

/** Who got what, beside what it deserves; who is noisy, and who pays for it. */
export class FairnessPanel {
  element;
  #jain = h('strong');
  #verdict = h('p', { class: 'muted' });
  #blame = h('p', { class: 'blame' });
  #bars = h('ul', { class: 'shares', 'aria-label': 'Shares received and deserved' });
  #shown = '';

  constructor() {
    const jain = h(
      'p',
      { class: 'jain', title: 'Jain’s index of shares received over deserved: 1 is fair' },
      'Jain ',
      this.#jain,
    );
    const head = h('div', { class: 'panel-head' }, h('h2', {}, 'Fairness'), jain);
    const key = h(
      'p',
      { class: 'shares-key muted' },
      h('i', { class: 'received' }),
      'received ',
      h('i', { class: 'deserved' }),
      'deserved',
    );
    this.element = h(
      'section',
      { class: 'panel', 'aria-label': 'Fairness' },
      head,
      this.#verdict,
      this.#blame,
      key,
      this.#bars,
    );
  }

  /** @param {StreamState} state @param {string} type */
  update(state, type) {
    const { summary } = state;
    const jain = state.overview.get(type)?.jain ?? null;
    say(this.#jain, jain === null ? '–' : jain.toFixed(3));
    const shown = JSON.stringify([type, jain === null, summary?.names, summary?.shares]);
    if (summary === null || shown === this.#shown) return;
    this.#shown = shown;
    const { verdict, noisy, paying } = fairnessWords(summary, jain);
    say(this.#verdict, verdict);
    this.#blame.replaceChildren(
      ...names(noisy, ' makes the noise', ' make the noise'),
      ...names(paying, ' pays for it', ' pay for it'),
      ...(noisy.length > 0 && paying.length === 0
        ? [h('span', { class: 'clause nobody' }, 'Nobody else pays for it.')]
        : []),
    );
    // Who did not stand in line deserved nothing, and took nothing from anybody.
    const shares = summary.shares.filter(({ deserved }) => deserved > 0);
    const largest = Math.max(0.001, ...shares.flatMap(({ received, deserved }) => [received, deserved]));
    this.#bars.replaceChildren(...shares.map((share) => bars(share, largest, type)));
  }
}

/** @param {readonly string[]} tenants @param {string} one @param {string} many */
function names(tenants, one, many) {
  if (tenants.length === 0) return [];
  const listed = tenants.flatMap((tenant, index) => (index === 0 ? [nameOf(tenant, 32)] : [', ', nameOf(tenant, 32)]));
  return [h('span', { class: 'clause' }, ...listed, `${tenants.length === 1 ? one : many}. `)];
}

/** @param {Share} share @param {number} largest @param {string} type */
function bars({ tenant, received, deserved }, largest, type) {
  const link = h('a', { href: hashOf({ page: 'tenant', type, tenant }) }, nameOf(tenant, 32));
  const numbers = h('span', { class: 'muted' }, `${percent(received)} of ${percent(deserved)}`);
  const pair = h(
    'div',
    { class: 'pair', 'aria-hidden': 'true' },
    bar('received', received / largest),
    bar('deserved', deserved / largest),
  );
  const less = received < deserved * 0.8 ? ' less' : received > deserved * 1.25 ? ' more' : '';
  return h('li', { class: `share${less}` }, h('div', { class: 'share-head' }, link, numbers), pair);
}

/** @param {string} kind @param {number} part */
function bar(kind, part) {
  const element = h('i', { class: kind });
  element.style.setProperty('width', `${Math.max(0.5, part * 100)}%`);
  return element;
}
