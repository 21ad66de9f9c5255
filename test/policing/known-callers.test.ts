import { expect, test } from 'vitest';
import { KnownCallers } from '../../src/policing/known-callers.js';
import type { Caller } from '../../src/policing/policing.js';

/** Says which of its calls made what is known. */
function counting() {
  const known = new KnownCallers<number>();
  let made = 0;
  const make = (): number => {
    made += 1;
    return made;
  };
  return { of: (caller: Caller) => known.of(caller, make), made: () => made };
}

test('callers that differ in tenant, address or key are known apart, and each of them is made once', () => {
  const callers: Caller[] = [
    {},
    { key: '' },
    { key: 'a' },
    { tenant: 'a' },
    { tenant: 'a', key: '' },
    { tenant: 'a', key: 'a' },
    { tenant: 'aa' },
    { address: 'a' },
    { address: 'a', key: 'a' },
    { tenant: '__proto__', key: 'constructor' },
  ];
  const { of } = counting();
  const first = callers.map(of);
  expect(new Set(first).size).toBe(callers.length);
  expect(callers.map(of)).toEqual(first);
});

test('a tenant is known by its name, whatever its address', () => {
  const { of } = counting();
  expect(of({ tenant: 'a', address: '10.0.0.1' })).toBe(of({ tenant: 'a', address: '10.0.0.2' }));
});

test('who has a long key is not remembered', () => {
  const { of } = counting();
  const caller = { key: 'k'.repeat(129) };
  expect(of(caller)).not.toBe(of(caller));
});

test('endless keys of one tenant take no endless memory: all are forgotten, and known again', () => {
  const { of, made } = counting();
  const other = of({ tenant: 'b' });
  for (let i = 0; i < 10_000; i += 1) of({ tenant: 'a', key: `${i}` });
  expect(of({ tenant: 'b' })).not.toBe(other);
  expect(made()).toBe(10_002);
  expect(of({ tenant: 'a', key: '9999' })).toBeLessThan(10_002);
});
