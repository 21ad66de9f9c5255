import { describe, expect, test } from 'vitest';
import { problemsOf } from './loading.js';

const KEY = 'acme-secret-key-1';

describe('fields that do not fit each other are told', () => {
  const rows: [string, string, string[]][] = [
    [
      'a default tier that is not there',
      'tiers: { free: {} }\ndefaultTier: fre',
      ['3:14 defaultTier: there is no tier "fre"; did you mean "free"?'],
    ],
    [
      'a default tier without any tiers',
      'defaultTier: free',
      ['2:14 defaultTier: there is no tier "free"; the tiers are default'],
    ],
    [
      "a tenant's tier",
      'tiers: { free: {}, pro: {} }\ntenants: { a: { tier: gold } }',
      ['3:23 tenants.a.tier: there is no tier "gold"; the tiers are free, pro, default'],
    ],
    [
      "a tenant's type",
      'tenants: { a: { types: { chatt: {} } } }',
      ['2:33 tenants.a.types.chatt: there is no type "chatt"; did you mean "chat"?'],
    ],
    [
      "a tenant's allowed type",
      'tenants: { a: { allow: [chat, ocr] } }',
      ['2:31 tenants.a.allow[1]: there is no type "ocr"; the types are chat'],
    ],
    [
      "a tier's allowed type",
      'tiers: { t: { allow: [ocr] } }',
      ['2:23 tiers.t.allow[0]: there is no type "ocr"; the types are chat'],
    ],
    [
      'a tier that only JavaScript would know',
      'tenants: { a: { tier: constructor } }',
      ['2:23 tenants.a.tier: there is no tier "constructor"; the tiers are default'],
    ],
    [
      'one key for two tenants',
      `tenants: { a: { key: ${KEY} }, b: { key: ${KEY} } }`,
      ['2:53 tenants.b.key: this is the key of tenant "a" too'],
    ],
    [
      'one key for two tenants, in lists',
      `tenants: { a: { keys: [${KEY}] }, b: { keys: [other-secret-key-1, ${KEY}] } }`,
      ['2:78 tenants.b.keys[1]: this is the key of tenant "a" too'],
    ],
    [
      'one key for a tenant and an admin',
      `admin: { keys: [${KEY}] }\ntenants: { a: { key: ${KEY} } }`,
      ['3:22 tenants.a.key: this is the key of an admin too'],
    ],
    [
      'key and keys at once',
      `tenants: { a: { key: ${KEY}, keys: [] } }`,
      ['2:22 tenants.a.key: say key or keys, not both'],
    ],
  ];
  test.each(rows)('%s', async (_what, lines, problems) => {
    expect(await problemsOf(`types: { chat: {} }\n${lines}\n`)).toEqual(problems);
  });
});

test('a key in a variable that another tenant has too is found', async () => {
  const text = `types: {}\ntenants: { a: { key: env:A }, b: { key: env:B } }\n`;
  expect(await problemsOf(text, { env: { A: KEY, B: KEY } })).toEqual([
    '2:41 tenants.b.key: this is the key of tenant "a" too',
  ]);
});

test('the admin key of the environment is no tenant key either', async () => {
  const text = `types: {}\ntenants: { a: { key: ${KEY} } }\n`;
  expect(await problemsOf(text, { env: { HEADGATE_ADMIN_KEY: KEY } })).toEqual([
    '2:22 tenants.a.key: this is the key of an admin too',
  ]);
});

describe('jobs of a shaped type are at least 1 µs apart at every rate that may apply', () => {
  const told = (path: string, rate: string, type: string, cost: number, most: string) =>
    `${path}: ${rate} leaves less than 1 µs between jobs of type ${type}, which cost ${cost} or more; expected at most ${most}, or unlimited`;
  const rows: [string, string, string, string[]][] = [
    [
      'a tier',
      '{ cost: 0.001 }',
      'tiers: { t: { rate: 1001/s } }',
      [told('2:21 tiers.t.rate', '1001/s', 'x', 0.001, '1000/s')],
    ],
    ['just right', '{ cost: 0.001 }', 'tiers: { t: { rate: 1000/s } }', []],
    ['unlimited', '{ cost: 0.001 }', 'tiers: { t: { rate: unlimited } }', []],
    ['paused', '{ cost: 0.001 }', 'tiers: { t: { rate: 0 } }', []],
    ['the greatest rate and a cost that suits it', '{ cost: 0.1 }', 'tiers: { t: { rate: 100000/s } }', []],
    [
      'the least of a field',
      '{ cost: { from: data.n, min: 0.01, max: 5 } }',
      'tiers: { t: { rate: 20000/s } }',
      [told('2:21 tiers.t.rate', '20000/s', 'x', 0.01, '10000/s')],
    ],
    [
      'the least of a request',
      '{ cost: { request: { min: 0.01, max: 5 }, default: 1 } }',
      'tiers: { t: { rate: 20000/s } }',
      [told('2:21 tiers.t.rate', '20000/s', 'x', 0.01, '10000/s')],
    ],
    [
      'the capacity',
      '{ cost: 0.001, capacity: { rate: 2000/s } }',
      'tiers: {}',
      [told('1:46 types.x.capacity.rate', '2000/s', 'x', 0.001, '1000/s')],
    ],
    [
      'a tenant',
      '{ cost: 0.001 }',
      'tenants: { a: { rate: 2000/s } }',
      [told('2:23 tenants.a.rate', '2000/s', 'x', 0.001, '1000/s')],
    ],
    [
      'a tenant, for the type',
      '{ cost: 0.001 }',
      'tenants: { a: { rate: 1/s, types: { x: { rate: 2000/s } } } }',
      [told('2:48 tenants.a.types.x.rate', '2000/s', 'x', 0.001, '1000/s')],
    ],
    [
      'a tenant, whose own rate for the type suits it',
      '{ cost: 0.001 }',
      'tenants: { a: { rate: 2000/s, types: { x: { rate: 1/s } } } }',
      [],
    ],
    [
      'a cost that is broken itself',
      '{ cost: { from: data.n, min: x, max: 5 } }',
      'tiers: { t: { rate: 20000/s } }',
      ['1:42 types.x.cost.min: expected a number from 0.001 to 10000; got "x"'],
    ],
  ];
  test.each(rows)('%s', async (_what, type, lines, problems) => {
    expect(await problemsOf(`types: { x: ${type} }\n${lines}\n`)).toEqual(problems);
  });
});
