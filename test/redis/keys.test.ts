import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  bucketKey,
  decodeTenant,
  encodeTenant,
  queuePrefix,
  readKey,
  scheduleKeys,
  scriptKeys,
  shardTag,
  sharedQueueKeys,
  wakeChannel,
} from '../../src/redis/keys.js';

const ODD = [
  '__proto__',
  'constructor',
  'a:b',
  '{a}',
  'a*',
  'a b',
  '😀',
  'é',
  'e\u0301',
  '%2F',
  '/',
  '\u0000',
  '%',
  "'",
];
const tenants = fc.oneof(fc.constantFrom(...ODD), fc.string({ minLength: 1, maxLength: 128, unit: 'grapheme' }));

describe('a tenant’s id inside a key', () => {
  test('is got back as it was', () => {
    fc.assert(fc.property(tenants, (tenant) => decodeTenant(encodeTenant(tenant)) === tenant));
  });

  test('is another one for another id, to the byte', () => {
    fc.assert(
      fc.property(tenants, tenants, (one, other) => {
        expect(encodeTenant(one) === encodeTenant(other)).toBe(one === other);
      }),
    );
  });

  test('holds nothing that means something in a key, a list, or a pattern but for `*`', () => {
    fc.assert(fc.property(tenants, (tenant) => void expect(encodeTenant(tenant)).toMatch(/^[\w.!~*'()%-]+$/)));
  });
});

test('everything of a shard shares its hash tag, whatever the tenant is called', () => {
  const tag = shardTag('ocr', 3);
  const keys = [
    ...scriptKeys(tag),
    ...Object.values(scheduleKeys(tag)),
    ...Object.values(sharedQueueKeys(tag)),
    ...[wakeChannel(tag), queuePrefix(tag), bucketKey(tag, encodeTenant('{other}'))],
  ];
  for (const key of keys) expect(/\{([^}]*)\}/.exec(key)?.[1]).toBe('hg:ocr:3');
});

test('types and shards have keys of their own', () => {
  const tags = [shardTag('ocr'), shardTag('ocr', 1), shardTag('chat'), shardTag('ocr', 10)];
  expect(new Set(tags).size).toBe(4);
  expect(shardTag('ocr')).toBe(shardTag('ocr', 0));
});

describe('a key of a shard', () => {
  test.each([
    ['{hg:ocr:3}:type', { type: 'ocr', shard: 3, rest: 'type' }],
    ['{hg:headgate.webhook:0}:bucket:a%7Db', { type: 'headgate.webhook', shard: 0, rest: 'bucket:a%7Db' }],
    ['{hg:ocr:12}:q:acme:01.ocr.12', { type: 'ocr', shard: 12, rest: 'q:acme:01.ocr.12' }],
  ])('%s says whose it is', (key, says) => {
    expect(readKey(key)).toEqual(says);
  });

  test.each(['hg:{overrides}:revision', 'hg:{types}', '{hg:ocr}:type', '{hg:ocr:x}:type', 'x{hg:ocr:0}:type', ''])(
    '%j is none',
    (key) => {
      expect(readKey(key)).toBeUndefined();
    },
  );
});
