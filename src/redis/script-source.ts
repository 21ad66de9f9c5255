import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { hoist } from './hoist.js';
import { withKnownAnswers } from './known-answers.js';
import { withPrivateNames } from './private-names.js';

/** One function of a library: a file of `lua/`, and values for the `${…}` in it. */
export interface Verb {
  readonly file: string;
  readonly parameters?: Readonly<Record<string, string>>;
}

interface LibraryOptions {
  readonly dir?: string;
  readonly form?: number;
}

/** Functions of Redis that are loaded together. Redis keeps and replicates them. */
export interface Library {
  /** Made from the text, so that versions live side by side during a rolling deployment; and from the form of the data that it reads. */
  readonly name: string;
  readonly text: string;
  /** What a verb is called as a function of Redis, and the names of its ARGV in order. */
  readonly functions: ReadonlyMap<string, { readonly name: string; readonly argv: readonly string[] }>;
}

interface BullScript {
  readonly name: string;
  readonly content: string;
}

const LUA_DIR = findLuaDir(dirname(fileURLToPath(import.meta.url)));
/** Helpers that take the place of BullMQ's own of the same names. */
const BULL_HELPERS = 'lib/bull_helpers';
/** What Redis has for scripts under global names. */
const GLOBALS = 'cjson cmsgpack error ipairs math pairs string struct table tonumber tostring type unpack'.split(' ');
const DIRECTIVE = /^--- @(include|bull) (?:"([\w/]+)"|(\w+))$/;

/** BullMQ's own scripts by name, as its package ships them. */
export const bullScripts: ReadonlyMap<string, BullScript> = readBullScripts();

/**
 * Makes a library of verbs: every include once, in the order in which they need one another, BullMQ's own scripts as local
 * functions, then the verbs. All of it is set up once, when Redis loads it; a script that is evaluated sets up its helpers
 * anew at every call, which took half of its time. Throws on any fault of a file.
 *
 * @param dir Where the files are; the package's `lua/` unless given.
 * @param form The form of the stored data that its verbs read and write, where they depend on one.
 */
export function readLibrary(verbs: readonly Verb[], { dir = LUA_DIR, form }: LibraryOptions = {}): Library {
  const gathered: Gathered = { dir, names: new Set(), helpers: new Map(), texts: [] };
  const bodies = verbs.map((verb) => {
    const file = readFileSync(join(dir, `${verb.file}.lua`), 'utf8');
    const text = substitute(file, verb.parameters ?? {});
    return {
      key: keyOf(verb),
      argv: readArgv(file, verb.file),
      flags: readFlags(file),
      body: pullOut(text, verb.file, gathered),
    };
  });
  refuseTwins(gathered);
  const begin = beginOf(gathered.texts);
  const users = [begin, ...bodies.map(({ body }) => body)].join('\n');
  const globals = keepGlobals([...gathered.texts, users].join('\n'));
  const prelude = [globals, ...withPrivateNames(gathered.texts, users), begin].join('\n');
  const hash = createHash('sha256').update(prelude).update(JSON.stringify(bodies)).digest('hex').slice(0, 12);
  const mark = form === undefined ? hash : `f${form}_${hash}`;
  const functions = bodies.map(({ key, argv }) => [key, { name: `${key}_${mark}`, argv }] as const);
  const registrations = bodies.map(({ key, flags, body }) => registration(`${key}_${mark}`, flags, body));
  const name = `headgate_${mark}`;
  return { name, text: [`#!lua name=${name}`, prelude, ...registrations].join('\n'), functions: new Map(functions) };
}

/** How a verb is told from others of its library: its file and its parameters. */
export function keyOf({ file, parameters = {} }: Verb): string {
  return [file, ...Object.values(parameters)].join('_');
}

function registration(name: string, flags: readonly string[], body: string): string {
  return `
redis.register_function{ function_name = '${name}', flags = {${flags.map((flag) => `'${flag}'`)}}, callback = (function()
local verb = (function()
${body}
end)()
return function(keys, argv)
begin(keys)
return verb(argv)
end
end)() }`;
}

/** One name, one function: a second one of the same name would take the first one's place for what stands behind it. */
function refuseTwins({ texts, helpers }: Gathered): void {
  const ours = texts.filter((text) => !text.includes('local function bull_'));
  const names = [...helpers.keys(), ...ours.flatMap(functionNames)];
  const twin = names.find((name, i) => names.indexOf(name) < i);
  if (twin !== undefined) throw new Error(`a library has two functions of the name ${twin}`);
}

/** Includes that keep something during a call say how they begin one, in a function `begin_…`. */
function beginOf(shared: readonly string[]): string {
  const names = shared.flatMap(functionNames).filter((name) => name.startsWith('begin_'));
  const calls = ['keep_globals()', ...names.map((name) => `${name}(keys)`)];
  return `local function begin(keys)\n${calls.join('\n')}\nend`;
}

/**
 * Makes the globals that a text uses local names of the library. A function of Redis finds a global only by way of two
 * tables and their metatables, for 280 instructions each time. Redis has most of them only once it calls a function, so
 * the first call keeps them.
 */
function keepGlobals(text: string): string {
  const words = new Set(text.match(/[A-Za-z_]\w*/g));
  const used = GLOBALS.filter((name) => words.has(name)).join(', ');
  if (used === '') return 'local function keep_globals() end';
  return `local function find_globals() return ${used} end
local ${used}, has_globals
local function keep_globals()
if has_globals then return end
${used} = find_globals()
has_globals = true
end`;
}

/** Names of all verbs in `lua/`. */
export function scriptNames(): string[] {
  return readdirSync(LUA_DIR)
    .filter((file) => file.endsWith('.lua'))
    .map((file) => file.slice(0, -4));
}

function findLuaDir(from: string): string {
  for (let dir = from; dir !== dirname(dir); dir = dirname(dir)) {
    try {
      readdirSync(join(dir, 'lua', 'lib'));
      return join(dir, 'lua');
    } catch {
      // Not here: src/ and dist/src/ lie at different depths below the package's root.
    }
  }
  throw new Error(`no folder lua/ above ${from}`);
}

function readBullScripts(): Map<string, BullScript> {
  const scripts: Record<string, BullScript> = createRequire(import.meta.url)('bullmq/dist/cjs/scripts');
  return new Map(
    Object.values(scripts)
      .filter((script) => typeof script?.content === 'string')
      .map((script) => [script.name, script]),
  );
}

function substitute(text: string, parameters: Readonly<Record<string, string>>): string {
  return text.replace(/\$\{(\w+)\}/g, (_, key: string) => {
    const value = parameters[key];
    if (value === undefined) throw new Error(`no value for \${${key}}`);
    return value;
  });
}

/** What the verbs of a library share, once each, in the order in which they need one another. */
interface Gathered {
  readonly dir: string;
  readonly names: Set<string>;
  /** Helpers of BullMQ's scripts by name; many scripts have the same ones. */
  readonly helpers: Map<string, string>;
  readonly texts: string[];
}

/** Gathers what the directives of a text name, and answers the rest of the text. */
function pullOut(text: string, from: string, gathered: Gathered): string {
  const rest = text.split('\n').filter((line) => {
    const [, verb, path, bull] = DIRECTIVE.exec(line) ?? [];
    if (verb === undefined && line.startsWith('--- @')) throw new Error(`${from}.lua: cannot read "${line}"`);
    if (path !== undefined) include(path, from, gathered);
    if (bull !== undefined) embed(bull, from, gathered);
    return verb === undefined;
  });
  return rest.join('\n');
}

function include(path: string, from: string, gathered: Gathered): void {
  if (gathered.names.has(path)) return;
  gathered.names.add(path);
  gathered.texts.push(readInclude(path, from, gathered));
}

function readInclude(path: string, from: string, gathered: Gathered): string {
  let text: string;
  try {
    text = readFileSync(join(gathered.dir, `${path}.lua`), 'utf8');
  } catch (cause) {
    throw new Error(`${from}.lua: cannot include "${path}"`, { cause });
  }
  return pullOut(text, path, gathered);
}

/** BullMQ's own script as a local function, behind those of its helpers that the library does not have yet. */
function embed(name: string, from: string, gathered: Gathered): void {
  const script = bullScripts.get(name);
  if (!script) throw new Error(`${from}.lua: BullMQ has no script "${name}"`);
  if (gathered.names.has(`bull ${name}`)) return;
  gathered.names.add(`bull ${name}`);
  include(BULL_HELPERS, from, gathered);
  const { helpers, texts } = gathered;
  const { functions, body } = hoist(withKnownAnswers(name, script.content), helpers, replacedHelpers(gathered.dir));
  const fresh = [...functions].filter(([helper]) => !helpers.has(helper));
  for (const [helper, source] of fresh) helpers.set(helper, source);
  const sources = fresh.map(([, source]) => source);
  texts.push([...sources, `local function bull_${name}(KEYS, ARGV)\n${body}\nend`].join('\n'));
}

/** Names of those helpers of BullMQ's for which there is one of ours. */
export function replacedHelpers(dir = LUA_DIR): ReadonlySet<string> {
  return new Set(functionNames(readFileSync(join(dir, `${BULL_HELPERS}.lua`), 'utf8')));
}

function functionNames(text: string): string[] {
  return [...text.matchAll(/^local function (\w+)/gm)].map(([, name = '']) => name);
}

const HEADER = /^--\[\[\n([\s\S]*?)\n\]\]/;

/** The block `ARGV` of a script's header: one name a line, two blanks deeper than the word itself. */
function readArgv(text: string, name: string): string[] {
  const header = HEADER.exec(text)?.[1];
  if (!header?.startsWith(`  ${name}: `)) throw new Error(`${name}.lua: the header must begin with "  ${name}: "`);
  const lines = header.split('\n');
  const from = lines.findIndex((line) => /^ {2}ARGV\b/.test(line));
  if (from < 0) return [];
  const argv: string[] = [];
  for (const line of lines.slice(from + 1)) {
    if (/^ {2}\S/.test(line)) break;
    const argument = /^ {4}(\w+(?:\.\.\.)?)(?: |$)/.exec(line)?.[1];
    if (argument) argv.push(argument);
  }
  return argv;
}

/**
 * The flags of a function of Redis that a script's header states: `allow-oom` for what must go on while memory is full
 * (or nothing would ever leave), `no-writes` for what only reads.
 */
function readFlags(text: string): string[] {
  return /^ {2}FLAGS (.*)$/m.exec(HEADER.exec(text)?.[1] ?? '')?.[1]?.split(', ') ?? [];
}
