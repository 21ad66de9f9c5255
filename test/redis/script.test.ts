import type { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { encodeTenant, shardTag } from '../../src/redis/keys.js';
import { asText } from '../../src/redis/reply.js';
import { describeScript, loadLibrary, runScript, runScripts, type ScriptCall } from '../../src/redis/script.js';
import type { Library } from '../../src/redis/script-source.js';
import { library, scripts } from '../../src/shaping/scripts.js';
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
  await redis.function('FLUSH');
  await redis.config('RESETSTAT');
});

const TAG = shardTag('ocr');
const admit = (tenant: string): ScriptCall<{ depth: number }> => ({
  script: scripts.admit,
  tag: TAG,
  argv: ['', encodeTenant(tenant), '', 1000, 10],
});
const inspect = (tenant: string): ScriptCall<{ waiting: number }> => ({
  script: scripts.inspect,
  tag: TAG,
  argv: ['', encodeTenant(tenant)],
});

/** A library of its own, whose one function counts its calls. */
const counting: Library = {
  name: 'counting',
  text: `#!lua name=counting
redis.register_function('count', function(keys) return redis.call('INCR', keys[2]) end)`,
  functions: new Map([['count', { name: 'count', argv: [] }]]),
};
const count: ScriptCall<number> = { script: describeScript(counting, 'count', [], Number), tag: TAG, argv: [] };

/** How often Redis ran a command since the test began. */
async function calls(command: string): Promise<number> {
  const stats = await redis.info('commandstats');
  return Number(new RegExp(`cmdstat_${command}:calls=(\\d+)`).exec(stats)?.[1] ?? 0);
}

describe('a description', () => {
  test('that says what the header says is taken', () => {
    expect(describeScript(library, 'renew', ['lock', 'tokens...'], asText).function).toMatch(/^renew_/);
  });

  test.each([
    { argv: ['lock'], told: 'lock' },
    { argv: ['tokens...', 'lock'], told: 'tokens..., lock' },
    { argv: ['lock', 'tokens'], told: 'lock, tokens' },
    { argv: [], told: '' },
  ])('that says ($told) is refused when it loads', ({ argv, told }) => {
    expect(() => describeScript(library, 'renew', argv, asText)).toThrow(
      `renew takes (lock, tokens...), but its caller gives (${told})`,
    );
  });

  test('of a verb that the library has not is refused', () => {
    expect(() => describeScript(library, 'fly', [], asText)).toThrow('the library has no verb fly');
  });
});

describe('one call', () => {
  test('works where Redis does not know the function, which it knows from then on', async () => {
    for (let i = 0; i < 3; i += 1) expect((await runScript(redis, admit('a'))).depth).toBe(1000);
    expect(await calls('function\\|load')).toBe(1);
  });

  test('works after all functions were flushed', async () => {
    await runScript(redis, admit('a'));
    await redis.function('FLUSH');
    expect((await runScript(redis, admit('a'))).depth).toBe(1000);
    expect(await calls('function\\|load')).toBe(2);
  });

  test('of a library that was loaded ahead loads nothing', async () => {
    await loadLibrary(redis, library);
    await runScript(redis, admit('a'));
    expect(await calls('function\\|load')).toBe(1);
  });

  test('that fails for another reason fails with it, and loads nothing', async () => {
    await loadLibrary(redis, library);
    await redis.set(`${TAG}:type`, 'not a hash');
    await expect(runScript(redis, admit('a'))).rejects.toThrow(/WRONGTYPE/);
    expect(await calls('function\\|load')).toBe(1);
    expect(await calls('fcall')).toBe(1);
  });

  test('takes effect once, though Redis did not know it at first', async () => {
    expect(await runScript(redis, count)).toBe(1);
    expect(await redis.get(`${TAG}:never`)).toBe('1');
  });
});

describe('many calls that meet an empty Redis', () => {
  test('load the library once', async () => {
    const replies = await Promise.all(Array.from({ length: 50 }, () => runScript(redis, admit('a'))));
    expect(replies.every(({ depth }) => depth === 1000)).toBe(true);
    expect(await calls('function\\|load')).toBe(1);
  });
});

describe('calls in a pipeline', () => {
  test('are answered in their order, where Redis knows none of them', async () => {
    const replies = await runScripts<unknown>(redis, [admit('a'), inspect('a'), admit('b')]);
    expect(replies).toMatchObject([{ reply: { depth: 1000 } }, { reply: { waiting: 0 } }, { reply: { depth: 1000 } }]);
  });

  test('are answered in their order, where Redis knows some of them', async () => {
    await loadLibrary(redis, counting);
    const replies = await runScripts<unknown>(redis, [admit('a'), count, inspect('a'), count]);
    expect(replies).toMatchObject([{ reply: { depth: 1000 } }, { reply: 1 }, { reply: { waiting: 0 } }, { reply: 2 }]);
  });

  test('that Redis knows are sent once', async () => {
    await loadLibrary(redis, library);
    await runScripts(redis, [admit('a'), admit('b')]);
    expect(await calls('fcall')).toBe(2);
  });

  test('each take effect once, whether or not they met a flush', async () => {
    for (let round = 0; round < 20; round += 1) {
      if (round % 2 === 0) await redis.function('FLUSH');
      const replies = await runScripts(redis, Array(10).fill(count));
      expect(replies.every((reply) => 'reply' in reply)).toBe(true);
    }
    expect(await redis.get(`${TAG}:never`)).toBe('200');
  });

  test('that fail do not take the others with them', async () => {
    await loadLibrary(redis, library);
    await redis.hset(`${TAG}:bucket:bad`, 'not', 'a string');
    const replies = await runScripts(redis, [admit('a'), admit('bad'), admit('b')]);
    expect(replies.map((reply) => 'reply' in reply)).toEqual([true, false, true]);
    expect(replies[1]).toMatchObject({ error: { message: expect.stringMatching(/WRONGTYPE/) } });
  });

  test('are none when there are none', async () => {
    expect(await runScripts(redis, [])).toEqual([]);
  });
});
