import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatCursor, parseCursor } from '../../src/shaping/cursor.js';

test('a cursor is read back as it was written, with any score that Redis writes', () => {
  const scores = fc.oneof(
    fc.constantFrom(
      '0',
      '21474836480',
      '7.3715254853632e+15',
      '1.5e-7',
      '-1',
      '-100000000000000000000',
      '0.10000000000000001',
      '0.0000010000000000000002',
    ),
    fc.integer().map(String),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
  );
  const ids = fc.stringMatching(/^[\x21-\x7e]{1,128}$/);
  fc.assert(
    fc.property(scores, ids, (score, id) => {
      expect(parseCursor(formatCursor({ score, id }))).toEqual({ score, id });
    }),
  );
});

describe('no cursor', () => {
  test.each([
    '',
    '~',
    '1',
    '1~',
    '~a',
    'x~a',
    'nan~a',
    'inf~a',
    '(1~a',
    '0x10~a',
    '1~a b',
    ' 1~a',
    '1 ~a',
    '1~a\n',
    '1.~a',
  ])('is %j', (text) => expect(parseCursor(text)).toBeUndefined());
});
