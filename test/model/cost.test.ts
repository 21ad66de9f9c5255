import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type CostRule, costOf, leastCost } from '../../src/model/cost.js';

const PAGES: CostRule = { kind: 'field', from: 'data.pages', min: 1, max: 500 };
const REQUEST: CostRule = { kind: 'request', min: 2, max: 10, default: 3 };

describe('a job costs what the rule of its type says', () => {
  const rows: [string, CostRule, unknown, number][] = [
    ['a fixed cost', { kind: 'fixed', cost: 2.5 }, { pages: 7 }, 2.5],
    ['a fixed cost, whatever the payload', { kind: 'fixed', cost: 2.5 }, null, 2.5],
    ['a field', PAGES, { pages: 7 }, 7],
    ['a fraction', PAGES, { pages: 1.25 }, 1.25],
    ['the least', PAGES, { pages: 1 }, 1],
    ['the most', PAGES, { pages: 500 }, 500],
    ['below the least', PAGES, { pages: 0 }, 1],
    ['far below the least', PAGES, { pages: -7 }, 1],
    ['a field further in', { ...PAGES, from: 'data.scan.pages' }, { scan: { pages: 4 } }, 4],
    ['the payload itself', { ...PAGES, from: 'data' }, 4, 4],
    ['an item of a list', { ...PAGES, from: 'data.sizes.1' }, { sizes: [1, 4] }, 4],
    ['the length of a list', { ...PAGES, from: 'data.pages.length' }, { pages: [0, 0, 0] }, 3],
    ['a missing field with a default', { ...PAGES, default: 9 }, {}, 9],
    ['a missing field further in', { ...PAGES, from: 'data.scan.pages', default: 9 }, { scan: 5 }, 9],
    ['no payload', { ...PAGES, default: 9 }, null, 9],
    ['an inherited name', { ...PAGES, from: 'data.constructor', default: 9 }, {}, 9],
    ['an inherited path', { ...PAGES, from: 'data.constructor.length', default: 9 }, {}, 9],
    ['the prototype', { ...PAGES, from: 'data.__proto__.x', default: 9 }, {}, 9],
    ['an own __proto__ from JSON', { ...PAGES, from: 'data.__proto__' }, JSON.parse('{"__proto__": 6}'), 6],
    ['the length of a text is no field', { ...PAGES, from: 'data.text.length', default: 9 }, { text: 'abc' }, 9],
    ['a request that says nothing', REQUEST, {}, 3],
  ];
  test.each(rows)('%s', (_what, rule, data, cost) => {
    expect(costOf(rule, data)).toEqual({ cost });
  });

  test.each([
    [5, 5],
    [10, 10],
    [2, 2],
    [0.001, 2],
  ])('a request that says %d costs %d', (stated, cost) => {
    expect(costOf(REQUEST, {}, stated)).toEqual({ cost });
  });
});

describe('what is no cost is told, with the field', () => {
  const rows: [string, CostRule, unknown, string][] = [
    ['a missing field', PAGES, {}, 'expected a number up to 500, got nothing'],
    ['no payload', PAGES, undefined, 'expected a number up to 500, got nothing'],
    ['a text', PAGES, { pages: '7' }, 'expected a number up to 500, got text'],
    ['null', PAGES, { pages: null }, 'expected a number up to 500, got null'],
    ['null, in spite of a default', { ...PAGES, default: 1 }, { pages: null }, 'expected a number up to 500, got null'],
    ['a list', PAGES, { pages: [7] }, 'expected a number up to 500, got a list'],
    ['an object', PAGES, { pages: {} }, 'expected a number up to 500, got an object'],
    ['a boolean', PAGES, { pages: true }, 'expected a number up to 500, got a boolean'],
    ['NaN', PAGES, { pages: Number.NaN }, 'expected a number up to 500, got NaN'],
    ['1e400 from JSON', PAGES, JSON.parse('{"pages":1e400}'), 'expected a number up to 500, got Infinity'],
    ['-1e400 from JSON', PAGES, JSON.parse('{"pages":-1e400}'), 'expected a number up to 500, got -Infinity'],
  ];
  test.each(rows)('%s', (_what, rule, data, message) => {
    expect(costOf(rule, data)).toEqual({ problem: { field: 'data.pages', message, code: 'malformed' } });
  });

  test.each([
    [0, 'expected a number above 0 and up to 10, got 0'],
    [-1, 'expected a number above 0 and up to 10, got -1'],
    [Number.NaN, 'expected a number up to 10, got NaN'],
    [Infinity, 'expected a number up to 10, got Infinity'],
    ['5', 'expected a number up to 10, got text'],
    [null, 'expected a number up to 10, got null'],
    [[], 'expected a number up to 10, got a list'],
  ])('a request that says %j', (stated, message) => {
    expect(costOf(REQUEST, {}, stated)).toEqual({ problem: { field: 'cost', message, code: 'malformed' } });
  });

  test('more than the most is a refusal of its own', () => {
    expect(costOf(PAGES, { pages: 500.5 })).toEqual({
      problem: {
        field: 'data.pages',
        message: '500.5 is more than the 500 that one job may cost',
        code: 'cost_exceeds_max',
      },
    });
    expect(costOf(REQUEST, {}, 11)).toEqual({
      problem: { field: 'cost', message: '11 is more than the 10 that one job may cost', code: 'cost_exceeds_max' },
    });
  });

  test('a cost in the request is refused where the type works it out', () => {
    const problem = {
      field: 'cost',
      message: 'this type works out the cost by itself; leave the field out',
      code: 'malformed',
    };
    expect(costOf(PAGES, { pages: 1 }, 1)).toEqual({ problem });
    expect(costOf({ kind: 'fixed', cost: 1 }, {}, 1)).toEqual({ problem });
  });
});

test('whatever the payload and the request, a cost lies within the bounds of the rule', () => {
  const rule = fc
    .tuple(fc.double({ min: 0.001, max: 10_000, noNaN: true }), fc.double({ min: 0.001, max: 10_000, noNaN: true }))
    .map(([a, b]) => ({ min: Math.min(a, b), max: Math.max(a, b) }))
    .chain((bounds) =>
      fc.constantFrom<CostRule>(
        { kind: 'field', from: 'data.n', ...bounds },
        { kind: 'field', from: 'data.n', ...bounds, default: bounds.min },
        { kind: 'request', ...bounds, default: bounds.max },
        { kind: 'fixed', cost: bounds.min },
      ),
    );
  const stated = fc.oneof(fc.double(), fc.anything());
  fc.assert(
    fc.property(rule, stated, fc.option(stated, { nil: undefined }), (rule, n, requested) => {
      const verdict = costOf(rule, { n }, requested);
      if ('problem' in verdict) return;
      expect(verdict.cost).toBeGreaterThanOrEqual(leastCost(rule));
      expect(verdict.cost).toBeLessThanOrEqual(rule.kind === 'fixed' ? rule.cost : rule.max);
    }),
  );
});
