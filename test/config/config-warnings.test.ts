import { expect, test } from 'vitest';
import { configWarnings } from '../../src/config/config-warnings.js';
import { loadText } from './loading.js';

const of = async (yaml: string) => configWarnings(await loadText(yaml)).map(({ message }) => message);

test.each([
  ['of a type', 'types: { ocr: { capacity: { rate: 0 } } }', 'types.ocr.capacity.rate'],
  ['of a tier', 'types: {}\ntiers: { free: { rate: 0 } }', 'tiers.free.rate'],
  ['of a tier, in jobs', 'types: {}\ntiers: { free: { jobRate: 0 } }', 'tiers.free.jobRate'],
  ['of a tenant', 'types: {}\ntenants: { "a:b": { rate: 0 } }', 'tenants["a:b"].rate'],
  [
    'of a tenant for one type',
    'types: { ocr: {} }\ntenants: { a: { types: { ocr: { rate: 0 } } } }',
    'tenants.a.types.ocr.rate',
  ],
])('a rate of 0 %s is taken, and it is said that it means paused, and where', async (_, yaml, place) => {
  expect(await of(yaml)).toEqual([`a rate of 0 means paused: nothing starts by ${place}`]);
});

test('of many, so many are named', async () => {
  const tenants = Array.from({ length: 9 }, (_, i) => `t${i}: { rate: 0 }`).join(', ');
  const [said, ...more] = await of(`types: {}\ntenants: { ${tenants} }`);
  expect(said).toContain('tenants.t4.rate and 4 more');
  expect(said).not.toContain('tenants.t5.rate');
  expect(more).toEqual([]);
});

test('rates that add up to more than a capacity are told as well', async () => {
  const said = await of('types: { ocr: { capacity: { rate: 1/s } } }\ntenants: { a: { rate: 2/s } }');
  expect(said).toEqual([expect.stringContaining('add up to 2/s, more than its capacity of 1/s')]);
});

test('the least rate there is, no limit and no rate at all are nothing to warn of', async () => {
  const rates = ['0.0001/s', 'unlimited'].map((rate, i) => `t${i}: { rate: ${rate} }`).join(', ');
  expect(await of(`types: { ocr: {} }\ntiers: { ${rates} }\ntenants: { a: {} }`)).toEqual([]);
});
