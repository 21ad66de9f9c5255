import { expect, test } from 'vitest';
import { FailedAttempts } from '../../src/http/failed-attempts.js';

test('twenty at once, then one a second, by address', () => {
  let now = 0;
  const failures = new FailedAttempts(() => now);
  for (let i = 0; i < 20; i += 1) {
    expect(failures.waitMs('a')).toBe(0);
    failures.failed('a');
  }
  expect(failures.waitMs('a')).toBe(1000);
  expect(failures.waitMs('b')).toBe(0);
  now += 400;
  expect(failures.waitMs('a')).toBe(600);
  now += 600;
  expect(failures.waitMs('a')).toBe(0);
  failures.failed('a');
  expect(failures.waitMs('a')).toBe(1000);
  now += 1e9;
  failures.failed('a');
  expect(failures.waitMs('a')).toBe(0);
});

test('so many addresses are remembered, those that failed last', () => {
  const failures = new FailedAttempts(() => 0);
  const fill = (address: string) => {
    for (let i = 0; i < 20; i += 1) failures.failed(address);
  };
  fill('first');
  for (let i = 0; i < 9_999; i += 1) failures.failed(`other ${i}`);
  expect(failures.waitMs('first')).toBe(1000);
  failures.failed('one more');
  expect(failures.waitMs('first')).toBe(0);
});
