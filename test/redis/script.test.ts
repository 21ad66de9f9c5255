import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Redis } from 'ioredis';
import { pino, stdSerializers } from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { orUnavailable } from '../../src/redis/connection.js';
import { shardTag } from '../../src/redis/keys.js';
import { asText } from '../../src/redis/reply.js';
import {
  describeScript,
  loadLibrary,
  runScript,
  runScripts,
  type Script,
  type ScriptCall,
} from '../../src/redis/script.js';
import type { Library } from '../../src/redis/script-source.js';
import { type AdmitAnswer, library, scripts } from '../../src/shaping/scripts.js';
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
});

const TAG = shardTag('ocr');
const admit = (tenant: string): ScriptCall<AdmitAnswer[]> => ({
  script: scripts.admit,
  tag: TAG,
  argv: ['', 1000, 10, '', tenant, '', '', 0],
});
const admitted = [expect.objectContaining({ kind: 'answered', depth: 1000 })];
const inspect = (tenant: string): ScriptCall<{ waiting: number }> => ({
  script: scripts.inspect,
  tag: TAG,
  argv: ['', tenant],
});

/** How often Redis was given a library since its statistics were last reset. */
async function loads(): Promise<number> {
  return calls('function|load');
}

async function calls(command: string): Promise<number> {
  const stats = await redis.info('commandstats');
  const line = stats.split('\r\n').find((each) => each.startsWith(`cmdstat_${command}:`));
  return Number(/calls=(\d+)/.exec(line ?? '')?.[1] ?? 0);
}

/** One function of a library made for a test. */
function scriptOf(name: string, body: string): Script<unknown> {
  const functions = new Map([['verb', { name: `verb_${name}`, argv: [] }]]);
  const text = `#!lua name=${name}\nredis.register_function('verb_${name}', function(keys, argv) ${body} end)`;
  const made: Library = { name, text, functions };
  return describeScript(made, 'verb', [], (reply) => reply);
}
const callOf = (script: Script<unknown>, argv: readonly string[] = []): ScriptCall<unknown> => ({
  script,
  tag: TAG,
  argv,
});

describe('a description', () => {
  test('that says what the header says is taken', () => {
    const { name } = library.functions.get('renew') ?? {};
    expect(describeScript(library, 'renew', ['lock', 'tokens...'], asText).function).toBe(name);
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
    const verb = { file: 'touch_job', parameters: { command: 'promote' } };
    expect(() => describeScript(library, verb, [], asText)).toThrow('the library has no verb touch_job_promote');
  });
});

describe('one call', () => {
  test('takes to its KEYS what every key over its connection begins with, as one in a pipeline does', async () => {
    const apart = server.client({ keyPrefix: 'apart:' });
    const where = callOf(scriptOf('where', 'return keys'));
    const keys = [`apart:${TAG}:type`, `apart:${TAG}:never`];
    expect(await runScript(apart, where)).toEqual(keys);
    expect(await runScripts(apart, [where])).toEqual([{ reply: keys }]);
  });

  test('works where Redis does not know the function, which it does from then on', async () => {
    await redis.config('RESETSTAT');
    for (let i = 0; i < 3; i += 1) expect(await runScript(redis, admit('a'))).toEqual(admitted);
    expect(await loads()).toBe(1);
  });

  test('works after the functions were flushed', async () => {
    await runScript(redis, admit('a'));
    await redis.function('FLUSH');
    expect(await runScript(redis, admit('a'))).toEqual(admitted);
  });

  test('loads the library once, however many meet an empty Redis', async () => {
    await redis.config('RESETSTAT');
    await Promise.all(
      Array.from({ length: 200 }, (_, n) => runScript<unknown>(redis, n % 2 ? admit('a') : inspect('b'))),
    );
    expect(await loads()).toBe(1);
    await redis.function('FLUSH');
    await Promise.all(Array.from({ length: 200 }, () => runScript(redis, admit('a'))));
    expect(await loads()).toBe(2);
  });

  test('of a library that was loaded ahead loads nothing', async () => {
    await loadLibrary(redis, library);
    await redis.config('RESETSTAT');
    await runScript(redis, admit('a'));
    expect(await loads()).toBe(0);
  });

  test('that fails for another reason fails with it, once', async () => {
    await runScript(redis, inspect('a'));
    await redis.set(`${TAG}:type`, 'not a hash');
    await redis.config('RESETSTAT');
    await expect(runScript(redis, admit('a'))).rejects.toThrow(/WRONGTYPE/);
    expect([await calls('fcall'), await loads()]).toEqual([1, 0]);
  });

  test('fails, and does not go on for ever, where the library never holds its function', async () => {
    const text = "#!lua name=empty\nredis.register_function('another', function() return 1 end)";
    const made: Library = { name: 'empty', text, functions: new Map([['verb', { name: 'missing', argv: [] }]]) };
    const script = describeScript(made, 'verb', [], asText);
    await expect(runScript(redis, callOf(script))).rejects.toThrow('Function not found');
    expect(await runScripts(redis, [callOf(script)])).toMatchObject([{ error: { message: 'ERR Function not found' } }]);
  });
});

describe('loading', () => {
  test('may be done by many at once, and again', async () => {
    const others = Array.from({ length: 5 }, () => server.client());
    await Promise.all([...others, redis, redis].map((connection) => loadLibrary(connection, library)));
    await loadLibrary(redis, library);
    expect(await runScript(redis, admit('a'))).toEqual(admitted);
  });

  test('that failed fails for all who waited for it, and is tried again by the next', async () => {
    const script = scriptOf('broken', 'this is no Lua');
    const tries = await Promise.allSettled([1, 2].map(() => runScript(redis, callOf(script))));
    expect(tries.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    await redis.config('RESETSTAT');
    await expect(runScript(redis, callOf(script))).rejects.toThrow(/Error compiling function/);
    expect(await loads()).toBe(1);
  });

  test('is done once for a Redis that restarts: functions are stored with the data', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'hg-script-'));
    const first = await startRedis({ dir, appendonly: true });
    const redis = first.client();
    redis.on('error', () => undefined); // Of the restart.
    await runScript(redis, admit('a'));
    await first.kill();
    const second = await startRedis({ dir, appendonly: true });
    const again = second.client();
    await again.config('RESETSTAT');
    expect(await runScript(again, admit('a'))).toEqual(admitted);
    expect(await again.info('commandstats')).not.toMatch(/function\|load/);
    await first.stop();
    await second.stop();
    await rm(dir, { recursive: true });
  });
});

describe('calls in a pipeline', () => {
  test('are answered in their order, where Redis knows none of them', async () => {
    const replies = await runScripts<unknown>(redis, [admit('a'), inspect('a'), admit('b')]);
    expect(replies).toMatchObject([
      { reply: [{ depth: 1000 }] },
      { reply: { waiting: 0 } },
      { reply: [{ depth: 1000 }] },
    ]);
  });

  test('are answered in their order, where Redis knows some of them', async () => {
    await runScript(redis, inspect('a'));
    const [one, two] = ['one', 'two'].map((name) => scriptOf(name, `return '${name}'`));
    if (!one || !two) throw new Error('two scripts');
    const replies = await runScripts<unknown>(redis, [
      callOf(one),
      inspect('a'),
      callOf(two),
      inspect('b'),
      callOf(one),
    ]);
    const waiting = { reply: { waiting: 0 } };
    expect(replies).toMatchObject([{ reply: 'one' }, waiting, { reply: 'two' }, waiting, { reply: 'one' }]);
  });

  test('that Redis knows are sent once', async () => {
    await loadLibrary(redis, library);
    await redis.config('RESETSTAT');
    await runScripts(redis, [admit('a'), admit('b')]);
    expect([await calls('fcall'), await loads()]).toEqual([2, 0]);
  });

  test('each take effect once, however many met a flush', async () => {
    const increment = scriptOf('increment', "return redis.call('HINCRBY', keys[1], 'count', 1)");
    const other = server.client();
    for (let round = 0; round < 20; round += 1) {
      const flush = round % 2 === 0 ? other.function('FLUSH') : undefined;
      const replies = await runScripts(
        redis,
        Array.from({ length: 10 }, () => callOf(increment)),
      );
      await flush;
      expect(replies.filter((reply) => 'error' in reply)).toEqual([]);
    }
    expect(await redis.hget(`${TAG}:type`, 'count')).toBe('200');
  });

  test('that fail do not take the others with them', async () => {
    await redis.hset(`${TAG}:bucket:bad`, 'not', 'text');
    const replies = await runScripts<unknown>(redis, [admit('a'), inspect('bad'), admit('b')]);
    expect(replies.map((reply) => 'reply' in reply)).toEqual([true, false, true]);
    expect(replies[1]).toMatchObject({ error: { message: expect.stringMatching(/WRONGTYPE/) } });
  });

  test('are none when there are none', async () => {
    expect(await runScripts(redis, [])).toEqual([]);
  });
});

describe('an error says nothing of what was sent', () => {
  const SECRET = 'payload-that-nobody-logs';

  /** Everything that a log would have of an error. */
  function logged(error: unknown): string {
    if (!(error instanceof Error)) throw new Error('no error');
    const lines: string[] = [];
    const log = pino({ base: null }, { write: (line: string) => void lines.push(line) });
    log.error({ err: error }, 'failed');
    return lines.join('') + JSON.stringify(stdSerializers.errWithCause(error));
  }
  const errorOf = (run: Promise<unknown>): Promise<unknown> =>
    run.then(
      () => undefined,
      (error: unknown) => error,
    );

  test('from a single call', async () => {
    await redis.set(`${TAG}:type`, 'not a hash');
    const call = { ...admit('a'), argv: ['', 'a', '', 1000, 10, SECRET] };
    const plain = await errorOf(redis.fcall(scripts.admit.function, 0, SECRET));
    expect(logged(plain), 'the client itself tells all').toContain(SECRET);
    const error = await errorOf(runScript(redis, call));
    expect(logged(error)).toContain('WRONGTYPE');
    expect(logged(error)).not.toContain(SECRET);
  });

  test('from a call in a pipeline', async () => {
    await redis.set(`${TAG}:type`, 'not a hash');
    const [answer] = await runScripts(redis, [{ ...admit('a'), argv: ['', 'a', '', 1000, 10, SECRET] }]);
    const error = answer && 'error' in answer ? answer.error : undefined;
    expect(logged(error)).toContain('WRONGTYPE');
    expect(logged(error)).not.toContain(SECRET);
  });

  test('from a library that does not load', async () => {
    const script = scriptOf('faulty', `this is no Lua --${SECRET}`);
    const error = await errorOf(runScript(redis, callOf(script)));
    expect(logged(error)).toContain('Error compiling function');
    expect(logged(error)).not.toContain(SECRET);
  });

  test('from a connection that went away in the middle of a call', async () => {
    const wait = scriptOf('wait', "redis.call('SET', keys[1], 1) while true do end");
    const victim = server.client({ retryStrategy: () => null, autoResendUnfulfilledCommands: false });
    await loadLibrary(victim, wait.library);
    const flying = errorOf(orUnavailable(() => runScript(victim, callOf(scripts.admit, [SECRET]))));
    victim.disconnect();
    const error = await flying;
    expect(logged(error)).toContain('Redis is not available');
    expect(logged(error)).not.toContain(SECRET);
  });

  test('from a server that does not know the command, and quotes it', async () => {
    const limited = await startRedis({ args: ['--rename-command', 'FCALL', ''] });
    const error = await errorOf(runScript(limited.client(), callOf(scriptOf('any', 'return 1'), [SECRET])));
    expect(logged(error)).toContain("unknown command 'fcall'");
    expect(logged(error)).not.toContain(SECRET);
    await limited.stop();
  });
});
