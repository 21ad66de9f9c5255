import { describe, expect, it } from 'vitest';
import {
  clock,
  count,
  countdown,
  duration,
  moment,
  percent,
  rate,
  units,
} from '../../src/dashboard/public/pure/format.js';
import { showText } from '../../src/dashboard/public/pure/show-text.js';
import { timeMarks, timeSpan } from '../../src/dashboard/public/pure/time-axis.js';

/** An instant by the clock of the reader, whatever zone the tests run in. */
const local = (hours: number, minutes: number, seconds = 0, ms = 0) =>
  new Date(2026, 10, 30, hours, minutes, seconds, ms).getTime();

describe('numbers on the page', () => {
  it.each([
    [0, '0 ms'],
    [840, '840 ms'],
    [3_250, '3.2 s'],
    [42_900, '42 s'],
    [60_000, '1 min'],
    [119_000, '1 min 59 s'],
    [3_600_000, '1 h'],
    [90 * 60_000, '1 h 30 min'],
    [49 * 3_600_000, '2 d 1 h'],
    [-1_500, '−1.5 s'],
  ])('%d ms last %s', (ms, text) => expect(duration(ms)).toBe(text));

  it.each([
    [2, '2/s'],
    [0.25, '0.25/s'],
    [14.62, '14.6/s'],
    [1_250, '1,250/s'],
    [0, '0/s'],
    [1 / 60, '1/min'],
    [1 / 3600, '1/h'],
    [null, 'unlimited'],
  ])('a rate of %s is %s', (perSecond, text) => expect(rate(perSecond)).toBe(text));

  it('separates thousands, and shows as many digits of units as matter', () => {
    expect(count(1_234_567)).toBe('1,234,567');
    expect([0.123, 1.004, 12.34, 123.4].map(units)).toEqual(['0.12', '1', '12.3', '123']);
    expect([0, 0.042, 0.5, 1].map(percent)).toEqual(['0 %', '4.2 %', '50 %', '100 %']);
  });

  it('says the time where the reader is, and the day where it is another', () => {
    expect(clock(local(14, 5, 3, 260))).toBe('14:05:03');
    expect(clock(local(14, 5, 3, 260), { tenths: true })).toBe('14:05:03.2');
    expect(moment(local(14, 5), local(1, 0))).toBe('14:05:00');
    expect(moment(local(14, 5), local(14, 5) + 24 * 3_600_000)).toBe('2026-11-30 14:05:00');
  });

  it('counts down to now, and never says that there is less time than there is', () => {
    expect([3_140, 950, 40, 0, -500].map(countdown)).toEqual(['in 3.2 s', 'in 1.0 s', 'now', 'now', 'now']);
  });
});

describe('the time below a chart', () => {
  const seconds = (...at: number[]) => at.map((second) => local(14, 5) / 1000 + second);
  const points = (...at: number[]) => seconds(...at).map((second) => [second * 1000, 1]);

  it('goes to the last point, over two minutes at least, one point alone too', () => {
    expect(timeSpan(points(0, 600))).toEqual(seconds(0, 600));
    expect(timeSpan(points(0, 5))).toEqual(seconds(-115, 5));
    expect(timeSpan(points(5))).toEqual(seconds(-115, 5));
  });

  it('has no two marks that are called alike', () => {
    expect(timeMarks(seconds(0, 60, 120))).toEqual(['14:05', '14:06', '14:07']);
    expect(timeMarks(seconds(0, 15, 30))).toEqual(['14:05:00', '14:05:15', '14:05:30']);
  });
});

describe('names that somebody else chose', () => {
  it.each([
    ['acme', 'acme'],
    ['<img src=x>', '<img src=x>'],
    ['مرحبا', 'مرحبا'],
    ['a\u202Egpj.exe', 'a⟨202E⟩gpj.exe'],
    ['line\nbreak\u0000', 'line⟨000A⟩break⟨0000⟩'],
    ['zero\u200Bwidth', 'zero⟨200B⟩width'],
    ['\u2028', '⟨2028⟩'],
  ])('%j is shown as %s', (name, shown) => expect(showText(name)).toBe(shown));

  it('leaves out the middle of a long one', () => {
    expect(showText(`${'a'.repeat(100)}${'z'.repeat(100)}`, 9)).toBe('aaaa…zzzz');
    expect([...showText('😀'.repeat(300), 21)]).toHaveLength(21);
  });
});
