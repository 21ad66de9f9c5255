const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/**
 * A number of things, with separators of thousands.
 *
 * @param {number} number
 */
export function count(number) {
  return grouped(Math.round(number), 0);
}

/**
 * A quantity of cost units: three digits that matter.
 *
 * @param {number} number
 */
export function units(number) {
  const size = Math.abs(number);
  if (size >= 100 || Number.isInteger(number)) return count(number);
  return grouped(number, size >= 10 ? 1 : 2);
}

/**
 * A rate in the unit in which it is easiest to read; `unlimited` where there is none.
 *
 * @param {number | null} perSecond
 */
export function rate(perSecond) {
  if (perSecond === null) return 'unlimited';
  if (perSecond === 0 || perSecond >= 0.1) return `${units(perSecond)}/s`;
  return perSecond * 60 >= 0.1 ? `${units(perSecond * 60)}/min` : `${units(perSecond * 3600)}/h`;
}

/**
 * How long something lasts, in at most two units.
 *
 * @param {number} ms
 */
export function duration(ms) {
  const size = Math.abs(ms);
  const sign = ms < 0 ? '−' : '';
  if (size < SECOND) return `${sign}${Math.round(size)} ms`;
  if (size < 10 * SECOND) return `${sign}${(Math.floor(size / 100) / 10).toFixed(1)} s`;
  if (size < MINUTE) return `${sign}${Math.floor(size / SECOND)} s`;
  if (size < HOUR) return `${sign}${pair(size, MINUTE, 'min', SECOND, 's')}`;
  if (size < DAY) return `${sign}${pair(size, HOUR, 'h', MINUTE, 'min')}`;
  return `${sign}${pair(size, DAY, 'd', HOUR, 'h')}`;
}

/**
 * The time of day of an instant, where the reader is: `14:05:03`, with `tenths` `14:05:03.2`.
 *
 * @param {number} atMs since 1970
 * @param {{ tenths?: boolean }} [options]
 */
export function clock(atMs, { tenths = false } = {}) {
  const at = new Date(atMs);
  const time = [at.getHours(), at.getMinutes(), at.getSeconds()].map((part) => String(part).padStart(2, '0')).join(':');
  return tenths ? `${time}.${Math.floor(at.getMilliseconds() / 100)}` : time;
}

/**
 * The time of day, and the day where it is another than today.
 *
 * @param {number} atMs
 * @param {number} nowMs
 */
export function moment(atMs, nowMs) {
  const at = new Date(atMs);
  if (at.toDateString() === new Date(nowMs).toDateString()) return clock(atMs);
  const date = [at.getFullYear(), at.getMonth() + 1, at.getDate()].map((part) => String(part).padStart(2, '0'));
  return `${date.join('-')} ${clock(atMs)}`;
}

/**
 * How far away an instant is: `in 3.2 s`, and `now` when it has come.
 *
 * @param {number} ms
 */
export function countdown(ms) {
  return ms <= 50 ? 'now' : `in ${duration(Math.ceil(ms / 100) * 100)}`;
}

/**
 * A part of a whole.
 *
 * @param {number} part 0 to 1
 */
export function percent(part) {
  const hundredths = part * 100;
  return `${hundredths > 0 && hundredths < 10 ? hundredths.toFixed(1) : Math.round(hundredths)} %`;
}

/** @param {number} ms @param {number} large @param {string} largeName @param {number} small @param {string} smallName */
function pair(ms, large, largeName, small, smallName) {
  const rest = Math.floor((ms % large) / small);
  return `${Math.floor(ms / large)} ${largeName}${rest === 0 ? '' : ` ${rest} ${smallName}`}`;
}

/** @param {number} number @param {number} digits */
function grouped(number, digits) {
  return number.toLocaleString('en-GB', { maximumFractionDigits: digits });
}
