import fc from 'fast-check';
import { expect, test } from 'vitest';
import { EARLIEST_YEAR, LATEST_YEAR, readInstant, rfc3339 } from '../../src/http/instant.js';

const instant = fc.integer({ min: Date.UTC(EARLIEST_YEAR, 0, 2), max: Date.UTC(LATEST_YEAR, 11, 30) });

test('what is written is read back, to the millisecond', () => {
  fc.assert(
    fc.property(instant, (atMs) => {
      expect(readInstant(rfc3339(atMs) ?? '', 'f')).toEqual({ ok: true, value: atMs });
    }),
  );
});

test('an instant is the same in every zone', () => {
  fc.assert(
    fc.property(instant, fc.integer({ min: -23 * 60 - 59, max: 23 * 60 + 59 }), (atMs, minutes) => {
      const local = new Date(atMs + minutes * 60_000).toISOString().slice(0, -1);
      const [hour, minute] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60];
      const zone = `${minutes < 0 ? '-' : '+'}${String(hour).padStart(2, '0')}:${String(minute).padStart(2, '0')}`;
      expect(readInstant(`${local}${zone}`, 'f')).toEqual({ ok: true, value: atMs });
    }),
  );
});

test.each([
  ['2026-12-01T00:00:00Z', Date.UTC(2026, 11, 1)],
  ['2026-12-01t00:00:00z', Date.UTC(2026, 11, 1)],
  ['2028-02-29T23:59:59.9Z', Date.UTC(2028, 1, 29, 23, 59, 59, 900)],
  ['2026-12-01T00:00:00.123456789Z', Date.UTC(2026, 11, 1, 0, 0, 0, 123)],
])('%s is an instant', (text, atMs) => {
  expect(readInstant(text, 'f')).toEqual({ ok: true, value: atMs });
});

test.each([
  ...['', 'now', '2026-12-01', '20261201T000000Z', '2026-12-01T00:00:00', '2026-12-01T00:00Z', '2026-12-01T24:00:00Z'],
  ...['2026-13-01T00:00:00Z', '2026-00-01T00:00:00Z', '2026-04-31T00:00:00Z', '2027-02-29T00:00:00Z'],
  ...['2026-12-01T00:00:60Z', '2026-12-01T00:00:00+24:00', '2026-12-01T00:00:00+0100', '2026-12-01T00:00:00.Z'],
  ...['2026-12-01T00:00:00.1234567890Z', ' 2026-12-01T00:00:00Z', '2026-12-01T00:00:00Z\n', '+02026-12-01T00:00:00Z'],
  ...['1999-12-31T23:59:59Z', '2200-01-01T00:00:00Z', '٢٠٢٦-12-01T00:00:00Z', '1767225600000'],
])('%j is none', (text) => {
  expect(readInstant(text, 'jobs[3].startBy')).toMatchObject({
    ok: false,
    problem: { code: 'invalid_field', field: 'jobs[3].startBy' },
  });
});

test('a promise is never written down too early', () => {
  fc.assert(
    fc.property(instant, fc.integer({ min: 0, max: 999 }), (ms, us) => {
      const atMs = ms + us / 1000;
      const written = Date.parse(rfc3339(atMs) ?? '');
      expect(written).toBeGreaterThanOrEqual(atMs);
      expect(written).toBeLessThan(atMs + 1);
    }),
  );
});
