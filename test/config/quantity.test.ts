import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatQuantity, parseQuantity, type Unit } from '../../src/config/quantity.js';

describe('a quantity that is written right is read', () => {
  const rows: [Unit, string, number][] = [
    ['rate', '10/s', 10],
    ['rate', '60/m', 1],
    ['rate', '3600/h', 1],
    ['rate', '0.5/s', 0.5],
    ['rate', '1/m', 1 / 60],
    ['rate', '1e-4/s', 1e-4],
    ['rate', '1E5/s', 1e5],
    ['rate', '0', 0],
    ['rate', '0/s', 0],
    ['rate', 'unlimited', Infinity],
    ['duration', '250ms', 250],
    ['duration', '60s', 60_000],
    ['duration', '5m', 300_000],
    ['duration', '1h', 3_600_000],
    ['duration', '2d', 172_800_000],
    ['duration', '1.5s', 1500],
    ['duration', '0.07s', 70],
    ['duration', '0s', 0],
    ['duration', 'unlimited', Infinity],
    ['size', '64MB', 67_108_864],
    ['size', '512KB', 524_288],
    ['size', '1GB', 1_073_741_824],
    ['size', '1TB', 1_099_511_627_776],
    ['size', '1.5KB', 1536],
    ['size', '65536', 65_536],
    ['count', '7', 7],
    ['count', '1e3', 1000],
    ['number', '0.25', 0.25],
  ];
  test.each(rows)('%s %s is %d', (unit, text, value) => {
    expect(parseQuantity(unit, text)).toBe(value);
  });
});

describe('anything else is no quantity', () => {
  const everywhere = [
    '',
    ' ',
    ' 5 ',
    '5 ',
    '-1',
    '+1',
    '.5',
    '5.',
    '0x10',
    '0b1',
    '1_000',
    '1,5',
    'NaN',
    'nan',
    'inf',
    'Infinity',
    '-Infinity',
    'abc',
    'null',
    'true',
    '[]',
    '1e400',
    '٣',
    '５',
    '1\n',
    '1e',
    'e5',
    'Unlimited',
    'unlimited/s',
    '1/2',
  ];
  const rows: [Unit, string][] = [
    ...(['rate', 'duration', 'size', 'count', 'number'] as const).flatMap((unit) =>
      everywhere.map((text): [Unit, string] => [unit, text]),
    ),
    ['rate', '5'],
    ['rate', '5/d'],
    ['rate', '5/sec'],
    ['rate', '5 /s'],
    ['rate', '/s'],
    ['rate', '-5/s'],
    ['rate', '1e400/s'],
    ['rate', '5s'],
    ['duration', '5'],
    ['duration', '0'],
    ['duration', '5S'],
    ['duration', '5 s'],
    ['duration', '0.3ms'],
    ['duration', '1m30s'],
    ['duration', '5/s'],
    ['duration', '1w'],
    ['size', '64mb'],
    ['size', '64M'],
    ['size', '64MiB'],
    ['size', '0.5'],
    ['size', '1B'],
    ['count', '1.5'],
    ['count', '5s'],
    ['number', '5%'],
  ];
  test.each(rows)('%s %j', (unit, text) => {
    expect(parseQuantity(unit, text)).toBeUndefined();
  });
});

describe('a quantity is written in the unit that a person would choose', () => {
  const rows: [Unit, number, string][] = [
    ['rate', 10, '10/s'],
    ['rate', 1 / 60, '1/m'],
    ['rate', 1 / 3600, '1/h'],
    ['rate', 1e-4, '0.0001/s'],
    ['rate', 1e5, '100000/s'],
    ['rate', 0, '0'],
    ['rate', Infinity, 'unlimited'],
    ['rate', Math.PI, '3.141592653589793/s'],
    ['duration', 90_000, '90s'],
    ['duration', 60_000, '1m'],
    ['duration', 86_400_000, '1d'],
    ['duration', 1, '1ms'],
    ['duration', 0, '0s'],
    ['size', 67_108_864, '64MB'],
    ['size', 1000, '1000'],
    ['count', 1000, '1000'],
    ['number', 0.001, '0.001'],
  ];
  test.each(rows)('%s %d is %s', (unit, value, text) => {
    expect(formatQuantity(unit, value)).toBe(text);
  });
});

describe('what is written is read back as exactly the same number', () => {
  const whole = fc.oneof(fc.nat(100), fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER }), fc.constant(Infinity));
  const real = fc.oneof(fc.double({ min: 0, noNaN: true }), fc.double({ min: 1e-4, max: 1e5, noNaN: true }));
  const perMinuteOrHour = fc
    .tuple(fc.integer({ min: 1, max: 6_000_000 }), fc.constantFrom(60, 3600))
    .map(([n, s]) => n / s);
  const numbers: Record<Unit, fc.Arbitrary<number>> = {
    rate: fc.oneof(real, perMinuteOrHour),
    duration: whole,
    size: whole,
    count: whole,
    number: real,
  };
  test.each(['rate', 'duration', 'size', 'count', 'number'] as const)('%s', (unit) => {
    fc.assert(
      fc.property(numbers[unit], (value) => {
        expect(parseQuantity(unit, formatQuantity(unit, value))).toBe(value);
      }),
      { numRuns: 2000 },
    );
  });
});

test('whatever text there is, the answer is no number below 0 and never NaN', () => {
  const text = fc.oneof(fc.string(), fc.stringMatching(/^[-+0-9.e]{0,6}(\/[smh]|ms|[smhd]|[KMGT]B)?$/));
  fc.assert(
    fc.property(fc.constantFrom<Unit>('rate', 'duration', 'size', 'count', 'number'), text, (unit, text) => {
      const value = parseQuantity(unit, text);
      expect(value === undefined || value >= 0).toBe(true);
    }),
    { numRuns: 5000 },
  );
});
