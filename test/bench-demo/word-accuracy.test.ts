import { describe, expect, it } from 'vitest';
import { wordAccuracy } from '../../bench/demo/word-accuracy.js';

const TRUTH = 'The gate stands at the head of the long channel';

describe('word accuracy', () => {
  it.each([
    ['the same text', TRUTH, 1],
    ['other line breaks', TRUTH.replaceAll(' ', '\n'), 1],
    ['punctuation at the ends of words', `“${TRUTH}.”`, 1],
    ['one word misread', TRUTH.replace('gate', 'gale'), 0.9],
    ['a letter of the other case', TRUTH.replace('The', 'the'), 0.9],
    ['one word left out', TRUTH.replace('gate ', ''), 0.9],
    ['one word put in', `${TRUTH} indeed`, 0.9],
    ['one word read as two', TRUTH.replace('channel', 'chan nel'), 0.8],
    ['nothing', '', 0],
    ['far more words than there are', 'x '.repeat(50), 0],
  ])('of %s', (_, recognised, accuracy) => {
    expect(wordAccuracy(TRUTH, recognised)).toBeCloseTo(accuracy, 10);
  });

  it('of an empty page is 1 when nothing was recognised, else 0', () => {
    expect(wordAccuracy('', '')).toBe(1);
    expect(wordAccuracy('', 'specks')).toBe(0);
  });
});
