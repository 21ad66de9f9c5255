import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A Lua script as it goes to Redis, and what its header says of it. */
export interface ScriptSource {
  readonly name: string;
  readonly text: string;
  readonly sha: string;
  /** Names of ARGV in order; the last ends with `...` when it repeats. */
  readonly argv: readonly string[];
}

interface BullScript {
  readonly name: string;
  readonly content: string;
}

const LUA_DIR = findLuaDir(dirname(fileURLToPath(import.meta.url)));
const DIRECTIVE = /^--- @(include|bull) (?:"([\w/]+)"|(\w+))$/;

/** BullMQ's own scripts by name, as its package ships them. */
export const bullScripts: ReadonlyMap<string, BullScript> = readBullScripts();

/** Reads `lua/<name>.lua`, puts its includes and BullMQ's scripts in place, and reads its header. Throws on any fault. */
export function readScript(name: string, parameters: Readonly<Record<string, string>> = {}): ScriptSource {
  const file = readFileSync(join(LUA_DIR, `${name}.lua`), 'utf8');
  const text = expand(substitute(file, parameters), name, new Set());
  return { name, text, sha: createHash('sha1').update(text).digest('hex'), argv: readArgv(file, name) };
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

function expand(text: string, from: string, included: Set<string>): string {
  return text
    .split('\n')
    .map((line) => {
      const [, verb, path, bull] = DIRECTIVE.exec(line) ?? [];
      if (verb === 'include' && path) return include(path, from, included);
      if (verb === 'bull' && bull) return wrapBull(bull, from, included);
      if (line.startsWith('--- @')) throw new Error(`${from}.lua: cannot read "${line}"`);
      return line;
    })
    .join('\n');
}

function include(path: string, from: string, included: Set<string>): string {
  if (included.has(path)) return '';
  included.add(path);
  try {
    return expand(readFileSync(join(LUA_DIR, `${path}.lua`), 'utf8'), path, included);
  } catch (cause) {
    throw new Error(`${from}.lua: cannot include "${path}"`, { cause });
  }
}

/** BullMQ's own script as a local function: its includes become locals of that function, so nothing clashes. */
function wrapBull(name: string, from: string, included: Set<string>): string {
  if (included.has(`bull ${name}`)) return '';
  included.add(`bull ${name}`);
  const script = bullScripts.get(name);
  if (!script) throw new Error(`${from}.lua: BullMQ has no script "${name}"`);
  return `local function bull_${name}(KEYS, ARGV)\n${script.content}\nend`;
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
