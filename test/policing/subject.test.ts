import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Limit } from '../../src/model/limit.js';
import type { Caller } from '../../src/policing/policing.js';
import { callerSubject, limitSubject, subjectOf } from '../../src/policing/subject.js';

const bucket: Limit = { algorithm: 'token-bucket', name: 'burst', per: 'key', ratePerSecond: 2, burst: 100 };
const log: Limit = { algorithm: 'sliding-window-log', name: 'window', per: 'key', limit: 60, windowMs: 60_000 };
const counter: Limit = { ...log, algorithm: 'sliding-window-counter' };
const shared = { ...bucket, per: 'policy' } as const;
const acme: Caller = { tenant: 'acme' };

/** `true` when two callers count together at a limit of their own. */
function share(one: Caller, other: Caller): boolean {
  return bytesOf(subjectOf('api', 0, bucket, one)) === bytesOf(subjectOf('api', 0, bucket, other));
}

/** Redis knows bytes: two texts that UTF-8 cannot tell apart would be one key. */
function bytesOf(subject: string): string {
  return Buffer.from(subject).toString('hex');
}

describe('two calls count apart', () => {
  test.each<[string, Caller, Caller]>([
    ['of two tenants', { tenant: 'a' }, { tenant: 'b' }],
    ['of two addresses', { address: '10.0.0.1' }, { address: '10.0.0.2' }],
    ['of a tenant and an address of the same text', { tenant: '10.0.0.1' }, { address: '10.0.0.1' }],
    ['of a tenant and of nobody', { tenant: 'n' }, {}],
    ['where the line between tenant and key lies elsewhere', { tenant: 'a', key: 'bc' }, { tenant: 'ab', key: 'c' }],
    ['where a key looks like the end of a tenant', { tenant: '1:ak1:b' }, { tenant: 'a', key: 'b' }],
    ['where a key begins as a tenant ends', { tenant: 'ak', key: 'b' }, { tenant: 'a', key: 'kb' }],
    ['with an empty key and with none', { tenant: 'a', key: '' }, { tenant: 'a' }],
    ['of one key in two tenants', { tenant: 'a', key: 'u' }, { tenant: 'b', key: 'u' }],
    ['of one key at two addresses', { address: 'a', key: 'u' }, { address: 'b', key: 'u' }],
    ['in another case', { tenant: 'Acme' }, { tenant: 'acme' }],
    ['in another normal form', { key: 'caf\u00e9' }, { key: 'cafe\u0301' }],
    ['with two halves of a surrogate pair', { key: '\ud800' }, { key: '\udfff' }],
    ['with half a surrogate pair and its replacement', { key: '\ud800' }, { key: '\ufffd' }],
    ['with NUL and without', { key: 'a\0' }, { key: 'a' }],
    ['with a line break and with another', { key: 'a\r\nb' }, { key: 'a\nb' }],
    ['with braces', { key: '{a}' }, { key: 'a' }],
    ['named after what objects have', { key: '__proto__' }, { key: 'constructor' }],
    ['with long keys that differ at the end', { key: `${'x'.repeat(1e6)}a` }, { key: `${'x'.repeat(1e6)}b` }],
    ['with long keys of one text in two encodings', { key: 'é'.repeat(40) }, { key: 'Ã©'.repeat(40) }],
  ])('%s', (_, one, other) => {
    expect(share(one, other)).toBe(false);
    expect(share(one, { ...one })).toBe(true);
  });

  test('at two limits, and at one limit of two policies or two algorithms or two windows', () => {
    const subjects = [
      subjectOf('api', 0, bucket, acme),
      subjectOf('api', 1, bucket, acme),
      subjectOf('api', 10, bucket, acme),
      subjectOf('pay', 0, bucket, acme),
      subjectOf('api', 0, log, acme),
      subjectOf('api', 0, counter, acme),
      subjectOf('api', 0, { ...log, windowMs: 6000 }, acme),
      subjectOf('api', 0, shared, acme),
    ];
    expect(new Set(subjects).size).toBe(subjects.length);
  });
});

describe('two calls count together', () => {
  test.each<[string, Caller, Caller]>([
    ['of one tenant from two addresses', { tenant: 'a', address: '1.2.3.4' }, { tenant: 'a', address: '5.6.7.8' }],
    ['of one tenant whose tier has changed', { tenant: 'a', tier: 'free' }, { tenant: 'a', tier: 'pro' }],
    ['of strangers of whom nothing is known', {}, {}],
  ])('%s', (_, one, other) => expect(share(one, other)).toBe(true));

  test('of anybody at a limit over the whole policy', () => {
    expect(subjectOf('api', 0, shared, acme)).toBe(subjectOf('api', 0, shared, { address: '1.2.3.4', key: 'k' }));
  });

  test('of a limit over the whole policy is one for the tiers that state it alike, and another for those that do not', () => {
    const twice: Limit = { ...shared, burst: 2 * shared.burst };
    expect(subjectOf('api', 0, { ...shared }, {})).toBe(subjectOf('api', 0, shared, {}));
    expect(subjectOf('api', 0, twice, {})).not.toBe(subjectOf('api', 0, shared, {}));
  });

  test('where rate or limit were changed: the level stays', () => {
    expect(subjectOf('api', 0, { ...bucket, burst: 7, ratePerSecond: 7 }, acme)).toBe(
      subjectOf('api', 0, bucket, acme),
    );
    expect(subjectOf('api', 0, { ...log, limit: 7 }, acme)).toBe(subjectOf('api', 0, log, acme));
  });
});

/** Texts that are like each other, and like what stands between the parts. */
const alike = fc.oneof(
  fc.string({
    unit: fc.constantFrom('a', 'b', 'k', 't', 'n', '1', '2', ':', ';', '#', '~', '\ud800', 'é'),
    maxLength: 6,
  }),
  fc.string({ unit: 'binary', maxLength: 80 }),
);
const callers = fc.record<Caller>({ tenant: alike, address: alike, key: alike }, { requiredKeys: [] });

interface Call {
  readonly policy: string;
  readonly index: number;
  readonly limit: Limit;
  readonly caller: Caller;
}

test('a subject is the same only for the same policy, limit and caller', () => {
  const calls: fc.Arbitrary<Call> = fc.record({
    policy: alike,
    index: fc.nat(12),
    limit: fc.constantFrom(bucket, log, counter, { ...log, windowMs: 6 }, { ...counter, windowMs: 60 }),
    caller: callers,
  });
  const identity = ({ policy, index, limit, caller: { tenant, address, key } }: Call) =>
    JSON.stringify([policy, index, limit, tenant !== undefined ? ['t', tenant] : ['a', address ?? null], key ?? null]);
  fc.assert(
    fc.property(calls, calls, (one, other) => {
      const [a, b] = [one, other].map(({ policy, index, limit, caller }) =>
        bytesOf(subjectOf(policy, index, limit, caller)),
      );
      expect(a === b).toBe(identity(one) === identity(other));
    }),
    { numRuns: 2000 },
  );
});

test('no two callers are taken for one, whatever is cut where', () => {
  const piece = fc.string({ unit: fc.constantFrom('a', 'k', 't', '1', ':'), maxLength: 3 });
  const caller = fc.record<Caller>({ tenant: piece, address: piece, key: piece }, { requiredKeys: [] });
  const identity = ({ tenant, address, key }: Caller) => [tenant ?? [address], key];
  fc.assert(
    fc.property(fc.array(caller, { minLength: 200, maxLength: 200 }), (callers) => {
      const [subjects, identities] = [
        callers.map((each) => bytesOf(callerSubject(each))),
        callers.map((each) => JSON.stringify(identity(each), (_, value) => value ?? null)),
      ];
      expect(new Set(subjects).size).toBe(new Set(identities).size);
    }),
  );
});

test('a subject is short, however long what it is made of', () => {
  const long = fc.string({ unit: 'binary', maxLength: 5000, size: 'max' });
  fc.assert(
    fc.property(long, long, long, (policy, tenant, key) => {
      expect(Buffer.byteLength(subjectOf(policy, 12, log, { tenant, key }))).toBeLessThanOrEqual(230);
    }),
  );
});

test('a subject is made of what is known of the limit and what is known of the caller', () => {
  expect(limitSubject('api', 0, bucket) + callerSubject(acme)).toBe(subjectOf('api', 0, bucket, acme));
});
