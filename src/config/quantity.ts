/**
 * Quantities as they are written in the configuration. In the program a quantity is a plain number:
 *
 * | unit | number | written |
 * |---|---|---|
 * | `rate` | per second | `10/s`, `60/m`, `100/h`; `0` is paused |
 * | `duration` | whole milliseconds | `250ms`, `60s`, `5m`, `1h`, `2d` |
 * | `size` | whole bytes, 1 KB = 1024 bytes | `512KB`, `64MB`, `1GB`, `1TB`; a bare number is bytes |
 * | `count` | whole number | `100` |
 * | `number` | number | `0.5` |
 *
 * `Infinity` is written `unlimited`. What is not written exactly so (a space, a sign, hex, `inf`) is no quantity.
 */
export type Unit = 'rate' | 'duration' | 'size' | 'count' | 'number';

/** The quantity written as `text`, or `undefined` when it is not one of this unit. Ranges are the schema's business. */
export function parseQuantity(unit: Unit, text: string): number | undefined {
  if (text === 'unlimited') return Infinity;
  const [, digits, suffix] = QUANTITY.exec(text) ?? [];
  if (digits === undefined || suffix === undefined) return undefined;
  const number = Number(digits);
  if (!Number.isFinite(number)) return undefined;

  if (unit === 'rate') {
    const seconds = SECONDS.get(suffix);
    if (seconds !== undefined) return number / seconds;
    return suffix === '' && number === 0 ? 0 : undefined;
  }
  const scale = SCALES[unit].get(suffix);
  if (scale === undefined) return undefined;
  return unit === 'number' ? number : whole(number * scale);
}

/** The text that {@link parseQuantity} reads back as exactly `value`, in the unit that a person would choose. */
export function formatQuantity(unit: Unit, value: number): string {
  if (value === Infinity) return 'unlimited';
  if (unit === 'rate') return formatRate(value);
  if (value === 0) return unit === 'duration' ? '0s' : '0';
  const [suffix, scale] = [...SCALES[unit]].find(([, scale]) => value % scale === 0) ?? ['', 1];
  return `${value / scale}${suffix}`;
}

const QUANTITY = /^([0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)([a-zA-Z/]*)$/;

const SECONDS = new Map([
  ['/s', 1],
  ['/m', 60],
  ['/h', 3600],
]);

const NO_SUFFIX = new Map([['', 1]]);

/** Greatest first, so that the first scale that divides a value is the one to write it in. */
const SCALES: Record<Exclude<Unit, 'rate'>, ReadonlyMap<string, number>> = {
  duration: new Map([
    ['d', 86_400_000],
    ['h', 3_600_000],
    ['m', 60_000],
    ['s', 1000],
    ['ms', 1],
  ]),
  size: new Map([
    ['TB', 1024 ** 4],
    ['GB', 1024 ** 3],
    ['MB', 1024 ** 2],
    ['KB', 1024],
    ['', 1],
  ]),
  count: NO_SUFFIX,
  number: NO_SUFFIX,
};

/** 0.07 s is 70.00000000000001 ms in binary: what misses a whole number by less than this is one. */
const WHOLE_WITHIN = 1e-6;

function whole(value: number): number | undefined {
  const rounded = Math.round(value);
  return Math.abs(value - rounded) < WHOLE_WITHIN ? rounded : undefined;
}

/** Digits up to which a rate reads well; 1/60 per second does not, and is written `1/m`. */
const SHORT = 6;

function formatRate(perSecond: number): string {
  if (perSecond === 0) return '0';
  for (const [suffix, seconds] of SECONDS) {
    const text = `${perSecond * seconds}`;
    if (text.length <= SHORT && Number(text) / seconds === perSecond) return `${text}${suffix}`;
  }
  return `${perSecond}/s`;
}
