import { h } from './element.js';

/**
 * Asks whether something shall be done that cannot be undone. Nothing is done unless that is chosen.
 *
 * @param {{ title: string, body: (Node | string)[], action: string, otherwise: string }} question
 * @returns {Promise<boolean>}
 */
export function askFirst({ title, body, action, otherwise }) {
  const keep = h('button', { type: 'submit', value: 'no', class: 'plain' }, otherwise);
  const act = h('button', { type: 'submit', value: 'yes', class: 'danger' }, action);
  const form = h(
    'form',
    { method: 'dialog' },
    h('h2', { id: 'question' }, title),
    h('p', {}, ...body),
    h('div', { class: 'buttons' }, keep, act),
  );
  const dialog = h('dialog', { 'aria-labelledby': 'question' }, form);
  document.body.append(dialog);
  dialog.showModal();
  keep.focus();
  return new Promise((resolve) => {
    dialog.addEventListener('close', () => {
      dialog.remove();
      resolve(dialog.returnValue === 'yes');
    });
  });
}
