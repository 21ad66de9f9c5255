/** @import { Trouble } from './stream-state.js' */

/**
 * What may be wrong with a bucket, the worst first: how it is called, what it means, and its shape, a path in a square
 * of 16. No two have the same shape, so that none is told by its colour alone.
 *
 * @type {readonly { trouble: Trouble, word: string, meaning: string, shape: string }[]}
 */
export const TROUBLES = [
  {
    trouble: 'refusing',
    word: 'refusing',
    meaning: 'jobs were refused in the last minute',
    shape: 'M5 1h6l4 4v6l-4 4H5l-4-4V5zM4 7v2h8V7z',
  },
  {
    trouble: 'full',
    word: 'full',
    meaning: 'as many jobs wait as may',
    shape: 'M1 2h14l-2.4 12H3.4zM5 4v2h6V4z',
  },
  {
    trouble: 'starved',
    word: 'starved',
    meaning: 'gets less than it deserves',
    shape: 'M3 1h10v3L9.5 8l3.5 4v3H3v-3l3.5-4L3 4z',
  },
  {
    trouble: 'noisy',
    word: 'noisy',
    meaning: 'asks for far more than its share',
    shape: 'M1 6h3l4-4v12l-4-4H1zM10 4.5l4-2v2l-4 2zM10 7.2h5v1.6h-5zM10 9.5l4 2v2l-4-2z',
  },
  {
    trouble: 'paused',
    word: 'paused',
    meaning: 'nothing starts until it is resumed',
    shape: 'M3 2h4v12H3zM9 2h4v12H9z',
  },
  {
    trouble: 'held',
    word: 'held',
    meaning: 'its upstream is busy and asked for a rest',
    shape: 'M4 7V5a4 4 0 0 1 8 0v2h1v8H3V7zM6 7h4V5a2 2 0 0 0-4 0z',
  },
];

/** @param {readonly Trouble[]} troubles of one bucket @returns {typeof TROUBLES} what is to be said of them, the worst first */
export function described(troubles) {
  return TROUBLES.filter(({ trouble }) => troubles.includes(trouble));
}
