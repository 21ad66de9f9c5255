import { h, say } from './element.js';

/**
 * A list of facts by name.
 *
 * @param {string[]} names
 */
export function facts(names) {
  const values = new Map(names.map((name) => [name, h('dd', {}, '–')]));
  const rows = [...values].map(([name, value]) => h('div', {}, h('dt', {}, name), value));
  return {
    element: h('dl', { class: 'facts-list' }, ...rows),
    /** @param {string} name @param {string} text */
    say(name, text) {
      const value = values.get(name);
      if (value !== undefined) say(value, text);
    },
  };
}
