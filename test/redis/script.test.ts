import { createHash } from 'node:crypto';
import type { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { shardTag } from '../../src/redis/keys.js';
import { asText } from '../../src/redis/reply.js';
import { describeScript, loadScripts, runScript, runScripts, type ScriptCall } from '../../src/redis/script.js';
import { scripts } from '../../src/shaping/scripts.js';
import { startRedis, type TestRedis } from '../support/redis-server.js';

let server: TestRedis;
let redis: Redis;
beforeAll(async () => {
  server = await startRedis();
  redis = server.client();
});
afterAll(() => server.stop());
beforeEach(async () => {
  await redis.flushall();
  await redis.script('FLUSH');
});

const TAG = shardTag('ocr');
const admit = (tenant: string): ScriptCall<{ depth: number }> => ({
  script: scripts.admit,
  tag: TAG,
  argv: ['', tenant, '', 1000, 10],
});
const inspect = (tenant: string): ScriptCall<{ waiting: number }> => ({
  script: scripts.inspect,
  tag: TAG,
  argv: ['', tenant],
});

/** How often Redis was sent the text of a script since its statistics were last reset. */
async function texts(): Promise<number> {
  const stats = await redis.info('commandstats');
  return Number(/cmdstat_eval:calls=(\d+)/.exec(stats)?.[1] ?? 0);
}

describe('a description', () => {
  test('that says what the header says is taken', () => {
    expect(describeScript('renew', ['lock', 'tokens...'], asText).source.name).toBe('renew');
  });

  test.each([
    { argv: ['lock'], told: 'lock' },
    { argv: ['tokens...', 'lock'], told: 'tokens..., lock' },
    { argv: ['lock', 'tokens'], told: 'lock, tokens' },
    { argv: [], told: '' },
  ])('that says ($told) is refused when it loads', ({ argv, told }) => {
    expect(() => describeScript('renew', argv, asText)).toThrow(
      `renew.lua takes (lock, tokens...), but its caller gives (${told})`,
    );
  });
});

describe('one call', () => {
  test('works where Redis does not know the script, and is sent by its hash from then on', async () => {
    await redis.config('RESETSTAT');
    for (let i = 0; i < 3; i += 1) expect((await runScript(redis, admit('a'))).depth).toBe(1000);
    expect(await texts()).toBe(1);
  });

  test('works after the scripts were flushed', async () => {
    await runScript(redis, admit('a'));
    await redis.script('FLUSH');
    expect((await runScript(redis, admit('a'))).depth).toBe(1000);
  });

  test('of a script that was loaded ahead is never sent as text', async () => {
    await loadScripts(redis, Object.values(scripts));
    await redis.config('RESETSTAT');
    await runScript(redis, admit('a'));
    expect(await texts()).toBe(0);
  });

  test('that fails for another reason fails with it, once', async () => {
    await redis.set(`${TAG}:type`, 'not a hash');
    await redis.config('RESETSTAT');
    await expect(runScript(redis, admit('a'))).rejects.toThrow(/WRONGTYPE/);
    expect(await texts()).toBe(1);
    await expect(runScript(redis, admit('a'))).rejects.toThrow(/WRONGTYPE/);
    expect(await texts()).toBe(1);
  });
});

describe('calls in a pipeline', () => {
  test('are answered in their order, where Redis knows none of them', async () => {
    const replies = await runScripts<unknown>(redis, [admit('a'), inspect('a'), admit('b')]);
    expect(replies).toMatchObject([{ reply: { depth: 1000 } }, { reply: { waiting: 0 } }, { reply: { depth: 1000 } }]);
  });

  test('are answered in their order, where Redis knows some of them', async () => {
    await runScript(redis, inspect('a'));
    const replies = await runScripts<unknown>(redis, [admit('a'), inspect('a'), admit('b'), inspect('b')]);
    expect(replies).toMatchObject([
      { reply: { depth: 1000 } },
      { reply: { waiting: 0 } },
      { reply: { depth: 1000 } },
      { reply: { waiting: 0 } },
    ]);
  });

  test('that Redis knows are sent once, by hash', async () => {
    await loadScripts(redis, [scripts.admit]);
    await redis.config('RESETSTAT');
    await runScripts(redis, [admit('a'), admit('b')]);
    expect(await texts()).toBe(0);
  });

  test('each take effect once, however many met a flush', async () => {
    await loadScripts(redis, Object.values(scripts));
    const other = server.client();
    for (let round = 0; round < 20; round += 1) {
      const flush = round % 2 === 0 ? other.script('FLUSH') : undefined;
      const calls = Array.from({ length: 10 }, () => incrementing);
      const replies = await runScripts(redis, calls);
      await flush;
      expect(replies.every((reply) => 'reply' in reply)).toBe(true);
    }
    expect(await redis.hget(`${TAG}:type`, 'count')).toBe('200');
  });

  test('that fail do not take the others with them', async () => {
    await runScripts(redis, [admit('a')]);
    await redis.set(`${TAG}:bucket:bad`, 'not a hash');
    const replies = await runScripts(redis, [admit('a'), admit('bad'), admit('b')]);
    expect(replies.map((reply) => 'reply' in reply)).toEqual([true, false, true]);
    expect(replies[1]).toMatchObject({ error: { message: expect.stringMatching(/WRONGTYPE/) } });
  });

  test('are none when there are none', async () => {
    expect(await runScripts(redis, [])).toEqual([]);
  });
});

/** A call whose effect can be counted. */
const text = "return redis.call('HINCRBY', KEYS[1], 'count', 1)";
const incrementing: ScriptCall<number> = {
  script: {
    source: { name: 'increment', text, sha: createHash('sha1').update(text).digest('hex'), argv: [] },
    parse: Number,
  },
  tag: TAG,
  argv: [],
};
