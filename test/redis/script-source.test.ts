import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bullScripts, keyOf, readLibrary, scriptNames } from '../../src/redis/script-source.js';
import { BULLMQ_COMMANDS } from '../../src/shaping/bullmq-commands.js';
import { library } from '../../src/shaping/scripts.js';
import { startRedis, type TestRedis } from '../support/redis-server.js';

const LUA = fileURLToPath(new URL('../../lua', import.meta.url));
const LUA_TESTS = fileURLToPath(new URL('../lua', import.meta.url));

/** The libraries that there are: the verbs of the shaped side, and those around BullMQ's own commands. */
const touching = Object.values(BULLMQ_COMMANDS).flatMap((treatment) =>
  'script' in treatment ? [treatment.script.library] : [],
);
const libraries = [...new Set([library, ...touching])];

let server: TestRedis;
let redis: Redis;
beforeAll(async () => {
  server = await startRedis();
  redis = server.client();
});
afterAll(() => server.stop());

const definitions = (text: string): (string | undefined)[] =>
  [...text.matchAll(/^local function (\w+)/gm)].map(([, called]) => called);

describe.each(libraries.map((each) => [each.name, each] as const))('library %s', (name, each) => {
  test('is loaded by Redis, with a function for every verb', async () => {
    expect(await redis.function('LOAD', each.text)).toBe(name);
    const listed = JSON.stringify(await redis.function('LIST', 'LIBRARYNAME', name));
    for (const { name: called } of each.functions.values()) expect(listed).toContain(`"${called}"`);
  });

  test('has nothing left to put in place', () => {
    expect(each.text.split('\n').filter((line) => line.startsWith('--- @'))).toEqual([]);
    expect(each.text).not.toMatch(/\$\{/);
  });

  test('contains every shared piece, and each script of BullMQ, once', () => {
    const shared = readdirSync(`${LUA}/lib`).flatMap((file) => definitions(readFileSync(`${LUA}/lib/${file}`, 'utf8')));
    const ours = definitions(each.text).filter((called) => shared.includes(called) || called?.startsWith('bull_'));
    expect(ours.length).toBeGreaterThan(20);
    expect(ours).toEqual([...new Set(ours)]);
  });

  test('has a function of its own name for each verb, so that versions live side by side', () => {
    const [, mark] = name.split('_');
    expect([...each.functions].filter(([key, { name: called }]) => called !== `${key}_${mark}`)).toEqual([]);
  });
});

describe.each(scriptNames())('%s', (name) => {
  const file = readFileSync(`${LUA}/${name}.lua`, 'utf8');

  test('is short, opens with what it is for, and returns a function', () => {
    expect(file.split('\n').length).toBeLessThan(200);
    expect(file.startsWith(`--[[\n  ${name}: `)).toBe(true);
    expect(file).toMatch(/^return function\(ARGV\)$/m);
  });

  test('is a verb of a library, and has a test file of its own', () => {
    const verbs = libraries.flatMap(({ functions }) => [...functions.keys()]);
    expect(verbs.filter((key) => key === name || key.startsWith(`${name}_`)).length).toBeGreaterThan(0);
    expect(readdirSync(LUA_TESTS)).toContain(`${name.replaceAll('_', '-')}.test.ts`);
  });
});

describe('a library', () => {
  test('has what a piece includes before the piece', () => {
    const pieces = ['begin_shard', 'read_clock', 'load_type', 'load_bucket', 'place', 'dispatch_next'];
    const at = pieces.map((piece) => library.text.indexOf(`\nlocal function ${piece}(`));
    expect(at).not.toContain(-1);
    expect(at).toEqual([...at].sort((one, other) => one - other));
  });

  test("has BullMQ's own text as it is, as a local function", () => {
    const own = bullScripts.get('moveToActive')?.content ?? 'nothing';
    expect(library.text).toContain(`local function bull_moveToActive(KEYS, ARGV)\n${own}\nend`);
  });

  test('of other verbs, or of other parameters, has another name', () => {
    const names = [
      readLibrary([{ file: 'dispatch' }]),
      readLibrary([{ file: 'dispatch' }, { file: 'settle' }]),
      readLibrary([{ file: 'touch_job', parameters: { command: 'promote' } }]),
      readLibrary([{ file: 'touch_job', parameters: { command: 'removeJob' } }]),
    ].map(({ name }) => name);
    expect(new Set(names).size).toBe(4);
    expect(readLibrary([{ file: 'dispatch' }]).name).toBe(names[0]);
  });

  test('tells the arguments of a verb from its header, in order', () => {
    const { functions } = readLibrary([{ file: 'dispatch' }, { file: 'renew' }]);
    expect(functions.get('dispatch')?.argv).toEqual(['now', 'token', 'lock', 'limit', 'keep_age', 'keep_count']);
    expect(functions.get('renew')?.argv).toEqual(['lock', 'tokens...']);
  });

  test('tells verbs of one file apart by their parameters', () => {
    expect(keyOf({ file: 'touch_job', parameters: { command: 'promote' } })).toBe('touch_job_promote');
    expect(keyOf({ file: 'dispatch' })).toBe('dispatch');
  });
});

describe('a fault is told by name', () => {
  test.each([
    { title: 'a file that there is not', verb: { file: 'no_such_verb' }, message: /no_such_verb/ },
    { title: 'a parameter without a value', verb: { file: 'touch_job' }, message: /no value for \$\{command\}/ },
    {
      title: 'a script that BullMQ has not',
      verb: { file: 'touch_job', parameters: { command: 'fly' } },
      message: /touch_job\.lua: BullMQ has no script "fly"/,
    },
    {
      title: 'a directive that cannot be read',
      verb: { file: 'touch_job', parameters: { command: 'two words' } },
      message: /touch_job\.lua: cannot read "--- @bull two words"/,
    },
  ])('$title', ({ verb, message }) => {
    expect(() => readLibrary([verb])).toThrow(message);
  });
});
