import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { madeAtMs, newJobId, parseJobId } from '../../src/shaping/job-id.js';

const TYPE = fc.stringMatching(/^[a-z][a-z0-9_-]{0,39}$/);

describe('a job id', () => {
  test('says where the job lives', () => {
    fc.assert(
      fc.property(TYPE, fc.integer({ min: 0, max: 99_999 }), (type, shard) => {
        expect(parseJobId(newJobId(type, shard))).toEqual({ type, shard });
      }),
    );
  });

  test('is another one every time, and later than the one before it', () => {
    const ids = Array.from({ length: 10_000 }, () => newJobId('ocr'));
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids).toEqual([...ids].sort());
  });

  test('says when it was made', () => {
    const before = Date.now();
    const madeAt = madeAtMs(newJobId('ocr'));
    expect(madeAt).toBeGreaterThanOrEqual(before);
    expect(madeAt).toBeLessThanOrEqual(Date.now());
  });

  test('names the shard 0 where there is one', () => {
    expect(parseJobId(newJobId('ocr'))?.shard).toBe(0);
  });
});

const GOOD = newJobId('ocr');

describe('no job id', () => {
  test.each([
    ['nothing', ''],
    ['no type', GOOD.slice(0, 26)],
    ['no shard', GOOD.slice(0, -2)],
    ['capitals', GOOD.toUpperCase()],
    ['a letter that ULIDs leave out', GOOD.replace(/^./, 'u')],
    ['a time that no ULID can have', GOOD.replace(/^./, '8')],
    ['a type that begins with a digit', GOOD.replace('.ocr.', '.1ocr.')],
    ['a type that is too long', GOOD.replace('.ocr.', `.${'a'.repeat(41)}.`)],
    ['a shard that is no number', GOOD.replace(/0$/, 'x')],
    ['something in front', ` ${GOOD}`],
    ['something behind', `${GOOD}\n`],
    ['something else between', GOOD.replace('.ocr.', ':ocr:')],
  ])('is %s', (_, id) => expect(parseJobId(id)).toBeUndefined());

  test('is any text at all, without a fault', () => {
    fc.assert(fc.property(fc.string(), (text) => parseJobId(text) === undefined));
  });
});
