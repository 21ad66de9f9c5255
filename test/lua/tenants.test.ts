import { describe, expect, test } from 'vitest';
import { decodeTenant, encodeTenant } from '../../src/redis/keys.js';
import { redisForTests } from './redis-for-tests.js';

const redis = redisForTests();
const UNLIMITED = { ratePerSecond: Infinity };

const ODD = [
  '__proto__',
  'constructor',
  'toString',
  'a:b',
  'a',
  'b',
  '{a}',
  'a*',
  'a?',
  '[ab]',
  'a b',
  'a%20b',
  'a%3Ab',
  '%',
  '😀',
  'caf\u00e9',
  'cafe\u0301',
  'A',
  'a\nb',
  'a\u0000b',
  '"',
  "'",
  '\\',
  '-inf',
  '+inf',
  'nan',
  '0',
  '1e3',
  ' ',
  '\u200b',
  'é'.repeat(64),
];

test('each has keys of its own, in which it can be read again', () => {
  const encoded = ODD.map(encodeTenant);
  expect(new Set(encoded).size).toBe(ODD.length);
  expect(encoded.map(decodeTenant)).toEqual(ODD);
  expect(encoded.filter((text) => /[:{}\s]/.test(text))).toEqual([]);
});

test('each has a bucket of its own, and no two ever meet', async () => {
  const shard = redis.shard();
  for (const [i, tenant] of ODD.entries()) {
    const jobs = Array.from({ length: i + 1 }, (_, n) => ({ id: `j${n}`, idempotencyKey: `k${n}` }));
    const { freePlaces } = await shard.admit(tenant, jobs, { ...UNLIMITED, depth: 100 });
    expect(freePlaces).toBe(100 - jobs.length);
  }
  for (const [i, tenant] of ODD.entries()) expect((await shard.inspect(tenant)).waiting).toBe(i + 1);
  const started = new Map<string, number>();
  for (let n = 0; ; n += 1) {
    const found = await shard.dispatch(`t${n}`);
    if (found.kind === 'nothing') break;
    const tenant = decodeTenant(found.tenant);
    started.set(tenant, (started.get(tenant) ?? 0) + 1);
    expect(
      (await shard.settle({ token: `t${n}`, tenant, id: found.id }, { kind: 'completed', value: '1' })).verdict,
    ).toBe('settled');
  }
  expect(started).toEqual(new Map(ODD.map((tenant, i) => [tenant, i + 1])));
});

describe('what is done to one leaves the others alone', () => {
  test.each([
    ['a', 'a:b'],
    ['a', 'a*'],
    ['{a}', 'a'],
    ['caf\u00e9', 'cafe\u0301'],
    ['__proto__', 'constructor'],
  ])('%j and %j', async (one, other) => {
    const shard = redis.shard();
    for (const tenant of [one, other]) {
      await shard.admit(tenant, [{ id: 'j1' }, { id: 'd1', delayMs: 50 }], { ...UNLIMITED, concurrency: 1 });
    }
    await shard.cancel(one, 'j1');
    await shard.cancel(one, 'd1');
    await shard.pause(one, true);
    expect(await shard.inspect(other)).toMatchObject({ waiting: 1, delayed: 1 });
    expect(await shard.take('t1')).toBe(`${encodeTenant(other)} j1`);
    expect((await shard.read(one, 'j1'))?.state).toBe('failed');
  });
});

test('all keys of a shard share its hash tag, so that a cluster keeps them together', async () => {
  const shard = redis.shard();
  for (const tenant of ODD) await shard.admit(tenant, [{ id: 'j1' }], UNLIMITED);
  const all = await shard.redis.keys('*');
  const ours = all.filter((key) => key.includes(shard.type));
  expect(ours.length).toBeGreaterThan(ODD.length * 3);
  expect(ours.filter((key) => !key.startsWith(`${shard.tag}:`))).toEqual([]);
});
