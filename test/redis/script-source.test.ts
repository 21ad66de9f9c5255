import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { library as leaseLibrary } from '../../src/policing/lease-scripts.js';
import { library as policingLibrary } from '../../src/policing/scripts.js';
import { withKnownAnswers } from '../../src/redis/known-answers.js';
import { library as rights } from '../../src/redis/missing-rights.js';
import { bullScripts, type Library, readLibrary, replacedHelpers, scriptNames } from '../../src/redis/script-source.js';
import { library as keyLibrary } from '../../src/shaping/api-key-scripts.js';
import { library as forwardLibrary } from '../../src/shaping/migration/forward-scripts.js';
import { library as overrideLibrary } from '../../src/shaping/override-scripts.js';
import { library as permitLibrary } from '../../src/shaping/permit-scripts.js';
import { library as shapedLibrary } from '../../src/shaping/scripts.js';
import { library as surveyLibrary } from '../../src/shaping/survey-scripts.js';
import { startRedis, type TestRedis } from '../support/redis-server.js';

const LUA = fileURLToPath(new URL('../../lua', import.meta.url));
const LUA_TESTS = fileURLToPath(new URL('../lua', import.meta.url));

const LIBRARIES = [
  forwardLibrary,
  shapedLibrary,
  policingLibrary,
  leaseLibrary,
  overrideLibrary,
  keyLibrary,
  surveyLibrary,
  permitLibrary,
  rights,
];

/** One file for a verb and its inverse, or all that is done with one thing. */
const TEST_FILES: Readonly<Record<string, string>> = {
  return_lease: 'lease',
  tally: 'tallies',
  add_key: 'api_keys',
  revoke_key: 'api_keys',
  use_key: 'api_keys',
  permit: 'permits',
  allot: 'permits',
  adopt: 'permits',
  holders: 'permits',
  taken: 'permits',
};

/** Files that stand for a different one of BullMQ's commands each. */
const TEMPLATES = ['touch_job', 'touch_bucket'];
const PROMOTE = { file: 'touch_job', parameters: { command: 'promote' } };
const REMOVE = { file: 'touch_job', parameters: { command: 'removeJob' } };

let server: TestRedis;
let redis: Redis;
beforeAll(async () => {
  server = await startRedis();
  redis = server.client();
});
afterAll(() => server.stop());

const dirs: string[] = [];
afterEach(() => {
  for (const dir of dirs.splice(0)) rmSync(dir, { recursive: true });
});

/** A folder of Lua files, by path. */
function luaDir(files: Readonly<Record<string, string>>): string {
  const dir = mkdtempSync(join(tmpdir(), 'hg-lua-'));
  dirs.push(dir);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), text);
  }
  return dir;
}

const verb = (name: string, lines: readonly string[] = []): string =>
  [`--[[`, `  ${name}: a verb.`, ']]', ...lines, `return function() return '${name}' end`].join('\n');

function countOf(text: string, piece: string): number {
  return text.split(piece).length - 1;
}

function functionName(library: Library, key: string): string {
  const found = library.functions.get(key);
  if (!found) throw new Error(`no ${key}`);
  return found.name;
}

describe('a library', () => {
  const { text } = readLibrary([{ file: 'dispatch' }, { file: 'settle' }, PROMOTE, REMOVE]);

  test('has nothing left to put in place', () => {
    expect(text.split('\n').filter((line) => line.startsWith('--- @'))).toEqual([]);
    expect(text).not.toMatch(/\$\{/);
  });

  test('contains every shared piece once, however many verbs and pieces include it', () => {
    const shared = readdirSync(join(LUA, 'lib')).flatMap((file) =>
      [...readFileSync(join(LUA, 'lib', file), 'utf8').matchAll(/^local (function \w+\()/gm)].map(
        ([, name = '']) => name,
      ),
    );
    const times = new Map(shared.map((line) => [line, countOf(text, line)]));
    expect(Math.max(...times.values())).toBe(1);
    expect(times.get('function place(')).toBe(1);
    expect(countOf(text, 'function bull_moveToActive(KEYS, ARGV)')).toBe(1);
  });

  test('has what a piece includes before it', () => {
    const pieces = ['function read_clock', 'function load_type', 'function load_bucket'];
    const at = [...pieces, 'function place(', 'function wake('].map((piece) => text.indexOf(piece));
    expect(at).not.toContain(-1);
    expect(at).toEqual([...at].sort((one, other) => one - other));
  });

  test("contains BullMQ's own lines as they are, in a local function and its helpers, but for helpers that ours replace and for what is known", () => {
    const replaced = new RegExp(`^local function (?:${[...replacedHelpers()].join('|')})\\([\\s\\S]*?^end$`, 'gm');
    const script = bullScripts.get('moveToActive')?.content ?? '';
    const own = withKnownAnswers('moveToActive', script).replace(replaced, '').split('\n');
    const lines = new Set(text.split('\n').map((line) => line.trim()));
    expect(own.length).toBeGreaterThan(50);
    expect(own.filter((line) => line.trim() !== '' && !lines.has(line.trim()))).toEqual([]);
    expect(text).toContain('\nfunction bull_moveToActive(KEYS, ARGV)\n');
  });

  test("asks nothing that is known, and refuses a script of BullMQ's that asks something else", () => {
    const script = bullScripts.get('moveToActive')?.content ?? '';
    expect(script).toContain('jobId = rcall("RPOPLPUSH", waitKey, activeKey)');
    expect(withKnownAnswers('moveToActive', script)).not.toContain('RPOPLPUSH');
    expect(text).not.toContain('rcall("ZCARD", jobIdKey .. ":unsuccessful")');
    expect(() => withKnownAnswers('moveToActive', 'return rcall("LMOVE", waitKey)')).toThrow(
      'BullMQ\'s script "moveToActive" does not ask rcall("RPOPLPUSH", waitKey, activeKey)',
    );
  });

  test.each([...replacedHelpers()])("has ours instead of BullMQ's own helper %s", (helper) => {
    const own = new RegExp(`^local function ${helper}\\([\\s\\S]*?^end$`, 'm');
    const texts = [...bullScripts.values()].flatMap(({ content }) => own.exec(content) ?? []);
    expect(texts).not.toEqual([]);
    expect(texts.filter((one) => text.includes(one))).toEqual([]);
  });

  test('has a verb once per set of parameters, each with its own in place', () => {
    expect(text).toContain('bull_promote(keys, argv)');
    expect(text).toContain('bull_removeJob(keys, argv)');
    const { functions } = readLibrary([PROMOTE, REMOVE]);
    expect([...functions.keys()]).toEqual(['touch_job_promote', 'touch_job_removeJob']);
  });

  test('knows the arguments of every verb, as its header has them', () => {
    const { functions } = readLibrary([{ file: 'dispatch' }, { file: 'renew' }]);
    expect(functions.get('dispatch')?.argv).toEqual([
      'now',
      'token',
      'lock',
      'limit',
      'keep_age',
      'keep_count',
      'floor',
      'permit',
    ]);
    expect(functions.get('renew')?.argv).toEqual(['lock', 'tokens...']);
  });

  test('has, for Redis, the name and the functions that it says', async () => {
    for (const library of [shapedLibrary, readLibrary([PROMOTE, REMOVE])]) {
      expect(await redis.function('LOAD', library.text)).toBe(library.name);
      const listed = JSON.stringify(await redis.function('LIST', 'LIBRARYNAME', library.name));
      for (const { name } of library.functions.values()) expect(listed).toContain(`"${name}"`);
    }
  });
});

test.each(scriptNames())('%s is short, reads its arguments, is used, and has a test file of its own', (name) => {
  expect(readFileSync(join(LUA, `${name}.lua`), 'utf8').split('\n').length).toBeLessThan(200);
  const library = readLibrary([{ file: name, parameters: { command: 'drain' } }]);
  expect(library.functions.get(`${name}_drain`)?.argv.length).toBeGreaterThan(0);
  expect(readdirSync(LUA_TESTS)).toContain(`${(TEST_FILES[name] ?? name).replaceAll('_', '-')}.test.ts`);
  const used = LIBRARIES.some(({ functions }) => functions.has(name));
  expect(used).toBe(!TEMPLATES.includes(name));
});

describe('names', () => {
  const text = (answer: string) =>
    luaDir({ 'a.lua': `--[[\n  a: answers.\n]]\nreturn function() return '${answer}' end` });

  test('are the same for the same text, wherever it stands', () => {
    const [one, other] = [text('x'), text('x')].map((dir) => readLibrary([{ file: 'a' }], { dir }));
    expect(one?.name).toBe(other?.name);
    expect(one?.text).toBe(other?.text);
  });

  test('carry the hash of the text, so that two versions of a verb live side by side', async () => {
    const [old, next] = ['old', 'next'].map((answer) => readLibrary([{ file: 'a' }], { dir: text(answer) }));
    if (!old || !next) throw new Error('two libraries');
    await redis.function('LOAD', old.text);
    await redis.function('LOAD', next.text);
    expect(await redis.fcall(functionName(old, 'a'), 0)).toBe('old');
    expect(await redis.fcall(functionName(next, 'a'), 0)).toBe('next');
  });

  test('change with anything that a verb includes', () => {
    const files = (value: number) => ({
      'a.lua': verb('a', ['--- @include "lib/shared"']),
      'lib/shared.lua': `local shared = ${value}`,
    });
    const [one, other] = [1, 2].map((value) => readLibrary([{ file: 'a' }], { dir: luaDir(files(value)) }));
    expect(one && functionName(one, 'a')).not.toBe(other && functionName(other, 'a'));
  });
});

test('pieces that include each other come once', () => {
  const dir = luaDir({
    'a.lua': verb('a', ['--- @include "lib/x"', '--- @include "lib/y"']),
    'lib/x.lua': '--- @include "lib/y"\nlocal x = 1',
    'lib/y.lua': '--- @include "lib/x"\nlocal y = 2',
  });
  const { text } = readLibrary([{ file: 'a' }], { dir });
  expect([countOf(text, 'local x = 1'), countOf(text, 'local y = 2')]).toEqual([1, 1]);
});

test('what a piece keeps of a call is begun anew at every call', async () => {
  const dir = luaDir({
    'count.lua': [
      '--[[\n  count: how often it was called since the call began.\n]]',
      '--- @include "lib/counter"',
      'return function() counter = counter + 1; return counter end',
    ].join('\n'),
    'lib/counter.lua': 'local counter\nlocal function begin_counter() counter = 0 end',
  });
  const library = readLibrary([{ file: 'count' }], { dir });
  await redis.function('LOAD', library.text);
  const answers = [
    await redis.fcall(functionName(library, 'count'), 0),
    await redis.fcall(functionName(library, 'count'), 0),
  ];
  expect(answers).toEqual([1, 1]);
});

describe('a fault is told by name', () => {
  const faulty = (...lines: string[]) => luaDir({ 'a.lua': verb('a', lines) });

  test('a verb that there is not', () => {
    expect(() => readLibrary([{ file: 'no_such_verb' }])).toThrow(/no_such_verb/);
  });

  test('a parameter without a value', () => {
    expect(() => readLibrary([{ file: 'touch_job' }])).toThrow(/no value for \$\{command\}/);
  });

  test('a script that BullMQ has not', () => {
    const fly = { file: 'touch_job', parameters: { command: 'fly' } };
    expect(() => readLibrary([fly])).toThrow('touch_job.lua: BullMQ has no script "fly"');
  });

  test('an include that there is not, of a verb or of a piece', () => {
    expect(() => readLibrary([{ file: 'a' }], { dir: faulty('--- @include "lib/gone"') })).toThrow(
      'a.lua: cannot include "lib/gone"',
    );
    const nested = { 'a.lua': verb('a', ['--- @include "lib/x"']), 'lib/x.lua': '--- @include "lib/gone"' };
    expect(() => readLibrary([{ file: 'a' }], { dir: luaDir(nested) })).toThrow('lib/x.lua: cannot include "lib/gone"');
  });

  test.each(['--- @import "lib/x"', '--- @include lib/x', '--- @bull two words', '--- @include "lib/x" and more'])(
    'a directive that cannot be read: %s',
    (directive) => {
      expect(() => readLibrary([{ file: 'a' }], { dir: faulty(directive) })).toThrow(
        `a.lua: cannot read "${directive}"`,
      );
    },
  );

  test.each(['return function() end', '--[[\n  other: a verb.\n]]', '-- a: a verb.'])(
    'a header that is not its own: %j',
    (text) => {
      expect(() => readLibrary([{ file: 'a' }], { dir: luaDir({ 'a.lua': text }) })).toThrow(
        'a.lua: the header must begin with "  a: "',
      );
    },
  );
});
