import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Limit } from '../../src/model/limit.js';
import { HeldPolicy } from '../../src/policing/held-policy.js';
import type { Caller } from '../../src/policing/policing.js';
import { subjectOf } from '../../src/policing/subject.js';
import { policy } from './open-policing-policy.js';

const LIMITS: readonly Limit[] = [
  { algorithm: 'token-bucket', name: 'burst', per: 'key', ratePerSecond: 1, burst: 1 },
  { algorithm: 'token-bucket', name: 'burst-2', per: 'policy', ratePerSecond: 9, burst: 9 },
];
const held = new HeldPolicy(policy('p', LIMITS));

const subjects = (caller: Caller): string[] =>
  held
    .limitsOf(caller)
    .appliedTo(caller)
    .map(({ subject }) => subject);

const name = fc.oneof(fc.constantFrom('a', '10.0.0.1', '__proto__', ''), fc.string({ maxLength: 300 }));

test('a caller has the same subjects at every call, however many called meanwhile, and they are its own', () => {
  const caller: fc.Arbitrary<Caller> = fc.record({ tenant: name, address: name, key: name }, { requiredKeys: [] });
  fc.assert(
    fc.property(fc.array(caller, { minLength: 1, maxLength: 20 }), (callers) => {
      for (const each of [...callers, ...callers]) {
        expect(subjects(each)).toEqual(LIMITS.map((limit, i) => subjectOf('p', i, limit, each)));
      }
    }),
  );
  const strangers = Array.from({ length: 10_001 }, (_, i) => ({ address: `10.1.${i >> 8}.${i & 255}` }));
  const before = subjects({ address: '10.1.0.0' });
  for (const stranger of strangers) subjects(stranger);
  expect(subjects({ address: '10.1.0.0' })).toEqual(before);
});
