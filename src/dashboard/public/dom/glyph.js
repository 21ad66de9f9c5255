/** @import { Trouble } from '../pure/stream-state.js' */
import { described } from '../pure/trouble.js';
import { h, s } from './element.js';

/** A shape of 16 by 16 that stands beside a word which says the same. @param {string} path */
export function glyph(path) {
  const shape = s('path', { d: path, 'fill-rule': 'evenodd' });
  return s('svg', { class: 'glyph', viewBox: '0 0 16 16', width: 14, height: 14, 'aria-hidden': 'true' }, shape);
}

/** What is wrong with a bucket: a shape and a word each. @param {readonly Trouble[]} troubles */
export function badges(troubles) {
  return described(troubles).map(({ trouble, word, meaning, shape }) =>
    h('span', { class: `badge ${trouble}`, title: meaning }, glyph(shape), word),
  );
}
