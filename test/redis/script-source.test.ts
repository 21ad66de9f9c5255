import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bullScripts, readScript, scriptNames } from '../../src/redis/script-source.js';
import { startRedis, type TestRedis } from '../support/redis-server.js';

const LUA = fileURLToPath(new URL('../../lua', import.meta.url));
const LUA_TESTS = fileURLToPath(new URL('../lua', import.meta.url));

/** Scripts that contain another one of BullMQ's each time they are read. */
const COMMAND = { command: 'promote' };
const sources = scriptNames().map((name) => readScript(name, COMMAND));

let server: TestRedis;
beforeAll(async () => {
  server = await startRedis();
});
afterAll(() => server.stop());

describe.each(sources.map((source) => [source.name, source] as const))('%s', (name, source) => {
  test('has nothing left to put in place', () => {
    expect(source.text.split('\n').filter((line) => line.startsWith('--- @'))).toEqual([]);
    expect(source.text).not.toMatch(/\$\{/);
  });

  test('contains every shared piece at most once', () => {
    const definitions = [...source.text.matchAll(/^local function (\w+)/gm)].map(([, called]) => called);
    const ours = new Set(
      readdirSync(`${LUA}/lib`).flatMap((file) =>
        [...readFileSync(`${LUA}/lib/${file}`, 'utf8').matchAll(/^local function (\w+)/gm)].map(([, called]) => called),
      ),
    );
    const shared = definitions.filter((called) => ours.has(called));
    expect(shared).toEqual([...new Set(shared)]);
    const wrapped = definitions.filter((called) => called?.startsWith('bull_'));
    expect(wrapped).toEqual([...new Set(wrapped)]);
  });

  test('is known to Redis by its hash', async () => {
    expect(await server.client().script('LOAD', source.text)).toBe(source.sha);
    expect(createHash('sha1').update(source.text).digest('hex')).toBe(source.sha);
  });

  test('is short, reads its arguments, and has a test file of its own', () => {
    const file = readFileSync(`${LUA}/${name}.lua`, 'utf8');
    expect(file.split('\n').length).toBeLessThan(200);
    expect(source.argv.length).toBeGreaterThan(0);
    expect(readdirSync(LUA_TESTS)).toContain(`${name.replaceAll('_', '-')}.test.ts`);
  });
});

test('what a piece includes comes before it', () => {
  const { text } = readScript('dispatch');
  const pieces = [
    'local call = redis.call',
    'local function read_clock',
    'local function load_type',
    'local function load_bucket',
    'local function place',
  ];
  const at = pieces.map((piece) => text.indexOf(piece));
  expect(at).not.toContain(-1);
  expect(at).toEqual([...at].sort((one, other) => one - other));
});

test("BullMQ's own text stands in ours as it is, as a local function", () => {
  const { text } = readScript('dispatch');
  const own = bullScripts.get('moveToActive')?.content ?? 'nothing';
  expect(text).toContain(`local function bull_moveToActive(KEYS, ARGV)\n${own}\nend`);
});

test('parameters are put in place, and make another script', () => {
  const [promote, remove] = [readScript('touch_job', COMMAND), readScript('touch_job', { command: 'removeJob' })];
  expect(promote.text).toContain('bull_promote(keys, argv)');
  expect(remove.text).toContain('bull_removeJob(keys, argv)');
  expect(promote.sha).not.toBe(remove.sha);
});

test('the arguments are those of the header, in order', () => {
  expect(readScript('dispatch').argv).toEqual(['now', 'token', 'lock', 'worker', 'limit', 'keep_age', 'keep_count']);
  expect(readScript('renew').argv).toEqual(['lock', 'tokens...']);
});

describe('a fault is told by name', () => {
  test('a script that there is not', () => {
    expect(() => readScript('no_such_script')).toThrow(/no_such_script/);
  });

  test('a parameter without a value', () => {
    expect(() => readScript('touch_job')).toThrow('no value for ${command}');
  });

  test('a script that BullMQ has not', () => {
    expect(() => readScript('touch_job', { command: 'fly' })).toThrow('touch_job.lua: BullMQ has no script "fly"');
  });

  test('a directive that cannot be read', () => {
    expect(() => readScript('touch_job', { command: 'two words' })).toThrow('cannot read "--- @bull two words"');
  });
});
