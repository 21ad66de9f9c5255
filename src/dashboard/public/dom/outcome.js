import { Refused } from '../net/api.js';
import { h } from './element.js';

/** What became of the last thing that was asked for: said where it was asked, and to screen readers. */
export class Outcome {
  element = h('p', { class: 'outcome', role: 'status' });

  /** @param {...(Node | string)} words */
  done(...words) {
    this.#say('done', words);
  }

  /** @param {unknown} error */
  failed(error) {
    if (!(error instanceof Refused)) throw error;
    this.#say('failed', [error.message.endsWith('.') ? error.message : `${error.message}.`]);
  }

  clear() {
    this.#say('', []);
  }

  /** @param {string} kind @param {(Node | string)[]} words */
  #say(kind, words) {
    this.element.className = `outcome ${kind}`;
    this.element.replaceChildren(...words);
  }
}

/**
 * A button that does something which takes time, once at a time.
 *
 * @param {string} label
 * @param {Outcome} outcome where it is said when it fails
 * @param {() => Promise<void>} act
 * @param {string} [look]
 */
export function actionButton(label, outcome, act, look = 'plain') {
  const button = h('button', { type: 'button', class: look }, label);
  button.addEventListener('click', async () => {
    if (button.getAttribute('aria-disabled') === 'true') return;
    button.setAttribute('aria-disabled', 'true');
    outcome.clear();
    await act().catch((error) => outcome.failed(error));
    button.removeAttribute('aria-disabled');
  });
  return button;
}
