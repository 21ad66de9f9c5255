import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { LiveConfig } from '../../src/config/live-config.js';
import { overrideFault } from '../../src/config/override-relations.js';
import { OVERRIDE_FIELDS } from '../../src/config/override-schema.js';
import type { OverrideSubject } from '../../src/config/override-subject.js';
import { parseSubject, subjectText } from '../../src/config/override-subject.js';
import { overridesAsJson } from '../../src/config/override-values.js';
import { changedValues, readOverride } from '../../src/config/read-override.js';
import { loadText } from './loading.js';

type Kind = OverrideSubject['kind'];

const read = (kind: Kind, body: unknown, held: Record<string, string> = {}) =>
  readOverride(OVERRIDE_FIELDS[kind], body, new Map(Object.entries(held)));

function changeOf(kind: Kind, body: unknown, held?: Record<string, string>): Record<string, string | null> {
  const result = read(kind, body, held);
  if ('fault' in result) throw new Error(`${result.fault.field}: ${result.fault.message}`);
  return Object.fromEntries(result.change);
}

describe('a request for overrides', () => {
  test('is read as the file is, and stored as it would be written', () => {
    const body = {
      ...{ tier: 'pro', rate: '120/m', burst: 5, jobRate: 'unlimited', depth: 0, maxBytes: '2048', maxWait: '0.5s' },
      ...{ weight: 0.5, concurrency: 'unlimited', mode: 'police', types: { ocr: { rate: 0 } } },
    };
    expect(changeOf('tenant', body)).toEqual({
      ...{ tier: 'pro', rate: '2/s', burst: '5', jobRate: 'unlimited', depth: '0', maxBytes: '2KB', maxWait: '500ms' },
      ...{ weight: '0.5', concurrency: 'unlimited', mode: 'police', 'types.ocr.rate': '0' },
    });
    expect(changeOf('tier', { maxWait: '5m' })).toEqual({ maxWait: '5m' });
    expect(changeOf('type', { capacity: { rate: '20/s', concurrency: 2 } })).toEqual({
      'capacity.rate': '20/s',
      'capacity.concurrency': '2',
    });
  });

  test('clears with null: a field, or everything at a place', () => {
    expect(changeOf('tenant', { rate: null, depth: 5 })).toEqual({ rate: null, depth: '5' });
    expect(changeOf('tenant', { types: { ocr: { rate: null } } })).toEqual({ 'types.ocr.rate': null });
    expect(changeOf('tenant', { types: { ocr: null } })).toMatchObject({
      'types.ocr.rate': null,
      'types.ocr.mode': null,
    });
    const held = { 'types.gone.rate': '1/s', 'types.ocr.depth': '1', rate: '2/s' };
    expect(changeOf('tenant', { types: null }, held)).toEqual({ 'types.gone.rate': null, 'types.ocr.depth': null });
    expect(changeOf('type', { capacity: null })).toEqual({
      'capacity.rate': null,
      'capacity.burst': null,
      'capacity.concurrency': null,
    });
  });

  test('that says nothing changes nothing', () => {
    for (const body of [{}, { types: {} }, { types: { ocr: {} } }]) expect(changeOf('tenant', body)).toEqual({});
  });
});

describe('a request that is refused names the field', () => {
  test.each<[Kind, unknown, string, string]>([
    ['tenant', { weight: 0 }, 'weight', 'expected a number from 0.001 to 1000000; got 0'],
    ['tenant', { weight: -1 }, 'weight', 'expected a number from 0.001 to 1000000; got -1'],
    ['tenant', { weight: 1e9 }, 'weight', 'expected a number from 0.001 to 1000000; got 1000000000'],
    ['tier', { weight: '4' }, 'weight', 'expected a number from 0.001 to 1000000; got "4"'],
    ['tenant', { rate: 5 }, 'rate', 'expected a rate from 0.0001/s'],
    ['tenant', { rate: '2' }, 'rate', 'expected a rate from 0.0001/s'],
    ['tenant', { rate: '1e9/s' }, 'rate', 'expected a rate from 0.0001/s'],
    ['tenant', { rate: ['2/s'] }, 'rate', 'got a list'],
    ['tenant', { burst: 0.5 }, 'burst', 'expected a whole number from 1'],
    ['tenant', { maxWait: 'soon' }, 'maxWait', 'expected a duration'],
    ['tenant', { mode: 'both' }, 'mode', 'expected shape or police; got "both"'],
    ['tenant', { tier: 7 }, 'tier', 'expected a name; got 7'],
    ['tenant', { tier: 'No Tier' }, 'tier', 'expected a name of a-z'],
    ['tenant', { rte: '2/s' }, 'rte', 'unknown field; did you mean "rate"?'],
    ['tenant', { rte: null }, 'rte', 'unknown field'],
    ['tenant', { key: 'a-key-of-16-letters' }, 'key', 'unknown field'],
    ['tenant', { allow: ['ocr'] }, 'allow', 'unknown field'],
    ['tenant', { types: { ocr: { tier: 'pro' } } }, 'types.ocr.tier', 'unknown field'],
    ['tenant', { types: { ocr: { weight: 0 } } }, 'types.ocr.weight', 'expected a number'],
    ['tenant', { types: ['ocr'] }, 'types', 'expected a mapping of names'],
    ['tenant', { types: { ocr: 5 } }, 'types.ocr', 'expected a mapping with rate'],
    ['tenant', { types: { 'a.b': { rate: '1/s' } } }, 'types["a.b"]', 'expected a name of a-z'],
    ['tenant', JSON.parse('{"types":{"__proto__":{"rate":"1/s"}}}'), 'types.__proto__', 'expected a name of a-z'],
    ['tenant', JSON.parse('{"__proto__":null}'), '__proto__', 'unknown field'],
    ['tier', { tier: 'pro' }, 'tier', 'unknown field'],
    ['tier', { types: {} }, 'types', 'unknown field'],
    ['type', { rate: '2/s' }, 'rate', 'unknown field'],
    ['type', { paused: true }, 'paused', 'unknown field'],
    ['type', { capacity: { burst: 0 } }, 'capacity.burst', 'expected a whole number'],
    ['tenant', [], '', 'expected a mapping with tier'],
    ['tenant', 'rate: 2/s', '', 'got a string'],
    ['tenant', null, '', 'got null'],
  ])('%s %j: %s', (kind, body, field, message) => {
    const result = read(kind, body);
    expect(result).toMatchObject({ fault: { field } });
    expect('fault' in result ? result.fault.message : '').toContain(message);
  });

  test('whatever it holds: never an exception, and what is taken is in range', () => {
    fc.assert(
      fc.property(fc.constantFrom<Kind>('tenant', 'tier', 'type'), fc.jsonValue(), (kind, body) => {
        const result = read(kind, body);
        return 'fault' in result || [...result.change.values()].every((text) => text === null || text.length > 0);
      }),
      { numRuns: 300 },
    );
  });
});

test('what was read can be read back: stored, shown and asked for again it is the same', () => {
  const rate = fc.double({ min: 1e-4, max: 1e5, noNaN: true }).map((value) => `${value}/s`);
  const profile = fc.record(
    {
      rate: fc.oneof(rate, fc.constantFrom('unlimited', 0, '7/m', '1/h')),
      burst: fc.integer({ min: 1, max: 1e9 }),
      maxBytes: fc.integer({ min: 1, max: 1e12 }).map(String),
      maxWait: fc.integer({ min: 0, max: 1e9 }).map((ms) => `${ms}ms`),
      weight: fc.double({ min: 1e-3, max: 1e6, noNaN: true }),
      concurrency: fc.oneof(fc.integer({ min: 1, max: 1e6 }), fc.constant('unlimited')),
      mode: fc.constantFrom('shape', 'police'),
    },
    { requiredKeys: [] },
  );
  const body = fc.tuple(profile, fc.dictionary(fc.stringMatching(/^[a-z][a-z0-9_-]{0,5}$/), profile, { maxKeys: 3 }));
  fc.assert(
    fc.property(body, ([own, types]) => {
      const first = changeOf('tenant', { ...own, types });
      const stored = changedValues(new Map(), new Map(Object.entries(first)), true);
      const again = changeOf('tenant', overridesAsJson(OVERRIDE_FIELDS.tenant, stored));
      expect(again).toEqual(first);
    }),
  );
});

test('a change leaves other fields; a replacement does not', () => {
  const held = new Map([
    ['rate', '1/s'],
    ['depth', '5'],
  ]);
  const change = new Map([
    ['rate', null],
    ['weight', '2'],
  ]);
  expect(Object.fromEntries(changedValues(held, change, false))).toEqual({ depth: '5', weight: '2' });
  expect(Object.fromEntries(changedValues(held, change, true))).toEqual({ weight: '2' });
});

describe('overrides whose fields are each fine, but not together or by this file', () => {
  const TEXT = `
types: { ocr: {}, tiny: { cost: { from: data.n, min: 0.01, max: 9 } } }
tiers: { pro: {} }
defaultTier: pro
tenants: { acme: { types: { tiny: { rate: 5/s } } } }
`;
  test.each<[Kind, string, Record<string, string>, string | undefined]>([
    ['tenant', 'x', { tier: 'pro' }, undefined],
    ['tenant', 'x', { tier: 'default' }, undefined],
    ['tenant', 'x', { tier: 'por' }, 'tier: there is no tier "por"; did you mean "pro"?'],
    ['tenant', 'x', { 'types.ocrr.rate': '1/s' }, 'types.ocrr: there is no type "ocrr"; did you mean "ocr"?'],
    ['tenant', 'x', { rate: '20000/s' }, 'rate: 20000/s leaves less than 1 µs between jobs of type tiny'],
    ['tenant', 'x', { rate: '20000/s', 'types.tiny.rate': '1/s' }, undefined],
    ['tenant', 'acme', { rate: '20000/s' }, undefined],
    ['tenant', 'acme', { 'types.tiny.rate': '20000/s' }, 'types.tiny.rate: 20000/s leaves less'],
    ['tenant', 'x', { rate: 'unlimited' }, undefined],
    ['tier', 'pro', { rate: '20000/s' }, 'rate: 20000/s leaves less than 1 µs'],
    ['type', 'tiny', { 'capacity.rate': '20000/s' }, 'capacity.rate: 20000/s leaves less'],
    ['type', 'ocr', { 'capacity.rate': '20000/s' }, undefined],
  ])('%s %s %j: %s', async (kind, name, values, expected) => {
    const live = new LiveConfig(await loadText(TEXT));
    const fault = overrideFault(live, { kind, name }, new Map(Object.entries(values)));
    if (expected === undefined) expect(fault).toBeUndefined();
    else expect(`${fault?.field}: ${fault?.message}`).toContain(expected);
    expect(live.subjects(), 'nothing was changed by looking').toEqual([]);
  });
});

test('a subject is one word, whatever its name is, and found again', () => {
  const name = fc.string({ minLength: 1, unit: 'grapheme' });
  fc.assert(
    fc.property(fc.constantFrom<Kind>('tenant', 'tier', 'type'), name, (kind, id) => {
      const text = subjectText({ kind, name: id });
      expect(text).toMatch(/^[^\s{}]+$/);
      expect(parseSubject(text)).toEqual({ kind, name: id });
    }),
  );
  for (const text of ['', 'tenant:', 'tenant', 'other:x', 'tenant:%', 'tenant:a b'])
    expect(parseSubject(text)).toBeUndefined();
});
