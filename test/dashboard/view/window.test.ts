import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isSameRow, SentRows, SentValues } from '../../../src/dashboard/view/changes.js';
import { summaryOf } from '../../../src/dashboard/view/summary.js';
import { TROUBLES } from '../../../src/dashboard/view/trouble.js';
import { SORTS, windowOf } from '../../../src/dashboard/view/window.js';
import { AT_MS, row } from '../support/buckets.js';

const iso = (ms: number) => new Date(AT_MS + ms).toISOString();
const names = (rows: readonly { readonly tenant: string }[]) => rows.map(({ tenant }) => tenant);

const ROWS = [
  row({ tenant: 'calm', waiting: 1, level: 4 }),
  row({ tenant: 'Busy', waiting: 9, level: 1 }),
  row({ tenant: 'held', waiting: 2, level: 2, trouble: ['held'] }),
  row({ tenant: 'both', waiting: 3, level: 3, trouble: ['held', 'paused'] }),
  row({ tenant: 'starved', waiting: 4, level: 0, trouble: ['starved'] }),
];
const ALL = { search: '', from: 0, count: 60 };

describe('a window', () => {
  test.each([
    { sort: 'trouble', is: ['starved', 'both', 'held', 'Busy', 'calm'] },
    { sort: 'tenant', is: ['Busy', 'both', 'calm', 'held', 'starved'] },
    { sort: 'level', is: ['calm', 'both', 'held', 'Busy', 'starved'] },
    { sort: 'waiting', is: ['Busy', 'starved', 'both', 'held', 'calm'] },
  ] as const)('by $sort is $is', ({ sort, is }) => {
    expect(names(windowOf(ROWS, { ...ALL, sort }).rows)).toEqual(is);
  });

  test('has what is searched for, in any case, and counts all of it', () => {
    const window = windowOf(ROWS, { search: 'B', sort: 'tenant', from: 1, count: 5 });
    expect([window.total, names(window.rows)]).toEqual([2, ['both']]);
    expect(windowOf(ROWS, { ...ALL, search: '.*', sort: 'tenant' }).total).toBe(0);
  });

  test('after window, every row is seen once, in an order that does not depend on how they came', () => {
    const any = fc.uniqueArray(
      fc.record({
        tenant: fc.string({ maxLength: 4 }),
        waiting: fc.nat(3),
        level: fc.nat(3),
        trouble: fc.subarray([...TROUBLES]),
      }),
      { selector: ({ tenant }) => tenant, maxLength: 30 },
    );
    fc.assert(
      fc.property(any, fc.constantFrom(...SORTS), fc.integer({ min: 1, max: 7 }), (parts, sort, count) => {
        const rows = parts.map((part) => row(part));
        const pages = Array.from(
          { length: Math.ceil(rows.length / count) },
          (_, i) => windowOf(rows, { search: '', sort, from: i * count, count }).rows,
        );
        const whole = windowOf(rows.toReversed(), { search: '', sort, from: 0, count: 100 });
        expect(names(pages.flat())).toEqual(names(whole.rows));
        expect(whole.total).toBe(rows.length);
      }),
    );
  });
});

describe('a page is told', () => {
  test('all at first, then only what changed, and nothing when nothing did', () => {
    const sent = new SentRows();
    const [a, b] = [row({ tenant: 'a' }), row({ tenant: 'b' })];
    expect(sent.since(2, [a, b])).toEqual({ total: 2, order: ['a', 'b'], rows: [a, b] });
    expect(sent.since(2, [a, b])).toBeUndefined();
    const fuller = { ...b, waiting: 1 };
    expect(sent.since(2, [a, fuller])).toEqual({ total: 2, rows: [fuller] });
    expect(sent.since(2, [fuller, a])).toEqual({ total: 2, order: ['b', 'a'], rows: [] });
    expect(sent.since(3, [fuller, a])).toEqual({ total: 3, rows: [] });
    expect(sent.since(1, [a])).toEqual({ total: 1, order: ['a'], rows: [] });
    // What has left may have been forgotten, and is told whole when it comes back.
    expect(sent.since(2, [fuller, a])).toEqual({ total: 2, order: ['b', 'a'], rows: [fuller] });
  });

  test.each([
    { title: 'the two clocks differ', before: 1000, after: 1400, same: true },
    { title: 'the start has moved', before: 1000, after: 1500, same: false },
  ])('of a start again only when it has moved: $title', ({ before, after, same }) => {
    expect(isSameRow(row({ nextStartAt: iso(before) }), row({ nextStartAt: iso(after) }))).toBe(same);
  });

  test('of a start that moves slowly all the same, once that has come to something', () => {
    const sent = new SentRows();
    const told = [0, 300, 600, 900, 1200].filter((ms) => sent.since(1, [row({ nextStartAt: iso(ms) })]) !== undefined);
    expect(told).toEqual([0, 600, 1200]);
  });

  test('enough to know every row as it is, whatever happens', () => {
    const states = fc.array(
      fc.uniqueArray(fc.record({ tenant: fc.constantFrom('a', 'b', 'c', 'd'), waiting: fc.nat(2) }), {
        selector: ({ tenant }) => tenant,
      }),
    );
    fc.assert(
      fc.property(states, (all) => {
        const sent = new SentRows();
        let [order, known]: [readonly string[], Map<string, unknown>] = [[], new Map()];
        for (const parts of all) {
          const rows = parts.map((part) => row(part));
          const news = sent.since(rows.length, rows);
          order = news?.order ?? order;
          for (const each of news?.rows ?? []) known.set(each.tenant, each);
          known = new Map([...known].filter(([tenant]) => order.includes(tenant)));
          expect(order.map((tenant) => known.get(tenant))).toEqual(rows);
        }
      }),
    );
  });

  test('values again when they are others', () => {
    const sent = new SentValues<{ n: number }>();
    expect(
      sent.since(
        new Map([
          ['x', { n: 1 }],
          ['y', { n: 1 }],
        ]),
      ),
    ).toEqual([{ n: 1 }, { n: 1 }]);
    expect(
      sent.since(
        new Map([
          ['x', { n: 1 }],
          ['y', { n: 2 }],
        ]),
      ),
    ).toEqual([{ n: 2 }]);
  });
});

describe('a summary', () => {
  test('counts every trouble, and names those in which most waits', () => {
    const rows = Array.from({ length: 5 }, (_, i) =>
      row({ tenant: `t${i}`, waiting: i, trouble: i === 4 ? ['full', 'noisy'] : ['full'] }),
    );
    const { counts, names: named } = summaryOf('ocr', rows, AT_MS);
    expect(counts).toEqual({ starved: 0, full: 5, refusing: 0, noisy: 1, held: 0, paused: 0 });
    expect(named).toEqual({ starved: [], full: ['t4', 't3', 't2'], refusing: [], noisy: ['t4'], held: [], paused: [] });
  });

  test('tells who starts next: who waits for a slot already, before who waits for his rate', () => {
    const due = row({ tenant: 'due', waiting: 1, nextStartAt: iso(700) });
    const later = row({ tenant: 'later', waiting: 1, nextStartAt: iso(900) });
    const idle = row({ tenant: 'idle', nextStartAt: iso(100) });
    expect(summaryOf('ocr', [later, due, idle], AT_MS).nextStart).toEqual({ tenant: 'due', at: iso(700) });
    const late = row({ tenant: 'late', waiting: 1, nextStartAt: iso(-5000) });
    expect(summaryOf('ocr', [due, late], AT_MS).nextStart).toEqual({ tenant: 'late', at: iso(-5000) });
    expect(summaryOf('ocr', [idle], AT_MS).nextStart).toBeNull();
  });

  test('shows at most eight shares, those first that are farthest from what is deserved', () => {
    const rows = Array.from({ length: 10 }, (_, i) => row({ tenant: `t${i}`, received: 0.1, deserved: 0.1 + i / 100 }));
    const { shares } = summaryOf('ocr', [...rows, row({ tenant: 'none' })], AT_MS);
    expect(names(shares)).toEqual(['t9', 't8', 't7', 't6', 't5', 't4', 't3', 't2']);
    expect(shares[0]).toEqual({ tenant: 't9', received: 0.1, deserved: 0.19 });
  });
});
