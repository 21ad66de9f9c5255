import { accepted, type Checked, refused } from './problems.js';

const LATEST_MS = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/**
 * An instant as RFC 3339 in UTC with milliseconds, rounded up: a promise is never written down too early.
 * Instants past the year 9999 are written as its end, and an instant that never comes (`Infinity`) is `null`.
 */
export function rfc3339(atMs: number): string | null {
  if (!Number.isFinite(atMs)) return null;
  return new Date(Math.min(Math.ceil(atMs), LATEST_MS)).toISOString();
}

const RFC_3339 = /^(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,9}))?(?:[Zz]|([+-])(\d{2}):(\d{2}))$/;

/** Years outside of this are slips of the pen (seconds for milliseconds, a default date), not deadlines. */
export const EARLIEST_YEAR = 2000;
export const LATEST_YEAR = 2199;

/** Milliseconds since 1970 of an RFC 3339 instant; fractions below a millisecond are dropped. */
export function readInstant(text: string, field: string): Checked<number> {
  const parts = RFC_3339.exec(text);
  if (parts === null) return notAnInstant(field, text);
  const [year, month, day, hour, minute, second] = parts.slice(1, 7).map(Number);
  const fraction = Number((parts[7] ?? '').slice(0, 3).padEnd(3, '0'));
  const offsetHour = Number(parts[9] ?? 0);
  const offsetMinute = Number(parts[10] ?? 0);
  if (year === undefined || month === undefined || day === undefined) return notAnInstant(field, text);
  if (hour === undefined || minute === undefined || second === undefined) return notAnInstant(field, text);
  const inRange = hour <= 23 && minute <= 59 && second <= 59 && offsetHour <= 23 && offsetMinute <= 59;
  if (!inRange || month < 1 || month > 12 || day < 1 || day > daysIn(year, month)) return notAnInstant(field, text);
  if (year < EARLIEST_YEAR || year > LATEST_YEAR) {
    return refused({
      code: 'invalid_field',
      field,
      detail: `\`${field}\` must lie between the years ${EARLIEST_YEAR} and ${LATEST_YEAR}.`,
    });
  }
  const offsetMs = (parts[8] === '-' ? -1 : 1) * (offsetHour * 60 + offsetMinute) * 60_000;
  return accepted(Date.UTC(year, month - 1, day, hour, minute, second, fraction) - offsetMs);
}

function daysIn(year: number, month: number): number {
  return new Date(Date.UTC(year, month, 0)).getUTCDate();
}

function notAnInstant(field: string, text: string): Checked<never> {
  return refused({
    code: 'invalid_field',
    field,
    detail: `\`${field}\` must be an instant in RFC 3339, as 2026-12-01T00:00:00Z; got ${JSON.stringify(text.slice(0, 40))}.`,
  });
}
