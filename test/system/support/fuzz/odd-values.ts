import fc from 'fast-check';

/** Text that people, programs and attackers put where a value belongs. */
export const oddText: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom('', ' ', ' 5 ', '0x10', '1e400', 'NaN', 'null', '-1', '[]', '{}', '__proto__', 'constructor', '..'),
  fc.constantFrom('2026-12-01T00:00:00Z', '1~x', '\u0000', '\ud800', '%zz', 'é', '*', '{hg:ocr:0}', 'a:b', '../../x'),
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.string({ minLength: 300, maxLength: 400 }),
);

export const oddNumber: fc.Arbitrary<number> = fc.oneof(
  fc.constantFrom(0, -0, -1, 0.5, 9, 10, 2 ** 31, 2 ** 53, 1e21, 1e308, 5e-324, 315_576_000_001),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
);

export const oddValue: fc.Arbitrary<unknown> = fc.oneof(
  oddText,
  oddNumber,
  fc.constantFrom(null, true, false, [], {}, [[]], { a: 1 }),
  fc.jsonValue({ maxDepth: 3 }),
);

/** What can stand in a header: visible Latin-1 and blanks inside. */
export const oddHeader: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom('', 'a', 'two words', '1~x', 'gzip', 'identity', 'text/plain', '0', 'wait=-1', 'wait=0x3', 'chunked'),
  fc
    .string({ unit: fc.integer({ min: 0x20, max: 0xff }).map((code) => String.fromCharCode(code)), maxLength: 40 })
    .map((text) => text.trim().replace(/\x7f/g, '')),
);

/** Sound nineteen times out of twenty: a request has many parts, and one fault hides those behind it. */
export function mostly<T, U>(sound: fc.Arbitrary<T>, odd: fc.Arbitrary<U>): fc.Arbitrary<T | U> {
  return fc.oneof({ weight: 19, arbitrary: sound }, { weight: 1, arbitrary: odd });
}

/** Absent nineteen times out of twenty. */
export function seldom<T>(odd: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> {
  return fc.oneof({ weight: 19, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: odd });
}
