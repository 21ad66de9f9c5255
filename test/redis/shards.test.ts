import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ONE_SHARD, Shards, shardOf } from '../../src/redis/shards.js';

describe('the shard of a tenant', () => {
  // What is stored rests on these: they never change.
  test.each([
    ['acme', 1, 0],
    ['acme', 3, 1],
    ['acme', 16, 13],
    ['acme', 1024, 941],
    ['globex', 16, 13],
    ['tenant-1', 2, 1],
    ['tenant-2', 2, 1],
    ['a:b', 1024, 798],
    ['été', 16, 4],
  ])('%s, of %i', (tenant, shards, expected) => expect(shardOf(tenant, shards)).toBe(expected));

  test('is the first four bytes of the SHA-256 of its UTF-8, modulo the number of shards', () => {
    const property = fc.property(
      fc.string({ unit: 'grapheme' }),
      fc.integer({ min: 1, max: 1024 }),
      (tenant, shards) => {
        const digest = createHash('sha256').update(Buffer.from(tenant, 'utf8')).digest();
        expect(shardOf(tenant, shards)).toBe(digest.readUInt32BE(0) % shards);
      },
    );
    fc.assert(property);
  });

  test('ids that look alike are spread evenly', () => {
    const counts = Array.from({ length: 16 }, () => 0);
    for (let i = 0; i < 16_000; i += 1) {
      const shard = shardOf(`tenant-${i}`, 16);
      counts[shard] = (counts[shard] ?? 0) + 1;
    }
    expect(Math.min(...counts)).toBeGreaterThan(880);
    expect(Math.max(...counts)).toBeLessThan(1120);
  });
});

describe('shards of a type', () => {
  test('have a tag each, of which one is a tenant’s', () => {
    const shards = new Shards(3);
    expect(shards.tags('ocr')).toEqual(['{hg:ocr:0}', '{hg:ocr:1}', '{hg:ocr:2}']);
    expect(shards.tagOf('ocr', 'acme')).toBe('{hg:ocr:1}');
  });

  test('are one where nothing is spread', () => {
    expect(ONE_SHARD.tags('ocr')).toEqual(['{hg:ocr:0}']);
    expect(ONE_SHARD.tagOf('ocr', 'anybody')).toBe('{hg:ocr:0}');
  });

  test('group tenants by where they stand', () => {
    const shards = new Shards(16);
    expect([...shards.group(['acme', 'été', 'globex'])]).toEqual([
      [13, ['acme', 'globex']],
      [4, ['été']],
    ]);
  });
});
