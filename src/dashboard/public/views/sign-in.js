/** @import { Session } from '../pages.js' */
import { h, s } from '../dom/element.js';
import { Outcome } from '../dom/outcome.js';
import { ask } from '../net/api.js';
import { wallPath, waterPath } from '../pure/bucket-shape.js';

/**
 * Asks for a key. It goes to the server once and is kept nowhere; a cookie that no script can read stands for it.
 *
 * @param {(session: Session) => void} signedIn
 * @returns {HTMLElement}
 */
export function signInForm(signedIn) {
  const outcome = new Outcome();
  outcome.element.setAttribute('role', 'alert');
  const key = h('input', {
    id: 'key',
    type: 'password',
    autocomplete: 'current-password',
    required: true,
    spellcheck: 'false',
  });
  const submit = h('button', { type: 'submit', class: 'main' }, 'Sign in');
  const picture = s('svg', { viewBox: '0 0 80 96', width: 64, height: 77, 'aria-hidden': 'true', class: 'emblem' });
  picture.append(s('path', { class: 'water', d: waterPath(0.55) }), s('path', { class: 'walls', d: wallPath() }));
  const send = async (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    outcome.clear();
    try {
      const session = await ask('POST', '/dashboard/session', { key: key.value.trim() });
      key.value = '';
      signedIn(session);
    } catch (error) {
      outcome.failed(error);
      key.select();
      key.focus();
    }
  };
  const form = h('form', { class: 'panel sign-in', onsubmit: send }, picture, h('h1', {}, 'Headgate'));
  form.append(h('label', { for: 'key' }, 'API key, an admin’s or a tenant’s'), key, submit, outcome.element);
  form.append(
    h('p', { class: 'muted' }, 'The first start printed one. With a tenant’s key you see that tenant alone.'),
  );
  return form;
}
