import { expect, test } from 'vitest';
import { overcommitments } from '../../src/config/overcommitment.js';
import { loadText } from './loading.js';

const of = async (tenants: string, capacity = '{ rate: 10/s }') =>
  overcommitments(
    await loadText(`
types: { ocr: { capacity: ${capacity} }, chat: {} }
tiers: { pro: { rate: 6/s }, free: { rate: 1/s, allow: [chat] } }
defaultTier: free
tenants: { ${tenants} }
`),
  ).map(({ type, message }) => `${type}: ${message.split(',')[0]}`);

test.each([
  ['a: { tier: pro }, b: { tier: pro }', 'the rates of 2 tenants for type ocr add up to 12/s'],
  [
    'a: { tier: pro }, b: { tier: pro, types: { ocr: { rate: 5/s } } }',
    'the rates of 2 tenants for type ocr add up to 11/s',
  ],
  ['a: { tier: pro, rate: 10.5/s }', 'the rates of 1 tenants for type ocr add up to 10.5/s'],
])('%s: %s, which is said', async (tenants, message) => {
  expect(await of(tenants)).toEqual([`ocr: ${message}`]);
});

test.each([
  ['what fits to the last digit', 'a: { tier: pro, rate: 6/s }, b: { tier: pro, rate: 4/s }'],
  ['ten thirds of ten', [...'abc'].map((id) => `${id}: { tier: pro, rate: 200/m }`).join(', ')],
  ['tenants who may not use the type', 'a: { tier: pro }, b: { rate: 9/s }'],
  ['a share without a rate', 'a: { tier: pro }, b: { tier: pro, rate: unlimited }'],
  ['tenants that are paused', 'a: { tier: pro }, b: { tier: pro, rate: 0 }'],
])('%s is no overcommitment', async (_, tenants) => {
  expect(await of(tenants)).toEqual([]);
});

test('a type without a rate, or one that is paused, promises nothing', async () => {
  for (const capacity of ['{}', '{ rate: 0 }', '{ concurrency: 2 }']) {
    expect(await of('a: { tier: pro, rate: 100/s }', capacity)).toEqual([]);
  }
});
