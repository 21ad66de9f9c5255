import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseSync } from 'vite';
import { describe, expect, it } from 'vitest';

const PROJECT = fileURLToPath(new URL('..', import.meta.url));
const LINES_LIMIT = 300;

/** Which parts of `src` a part may import, beside itself; `model` imports nothing of ours. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  model: [],
  telemetry: [],
  redis: ['model'],
  config: ['model'],
  shaping: ['model', 'redis', 'config', 'telemetry'],
  policing: ['model', 'redis', 'config', 'telemetry'],
  http: ['model', 'redis', 'config', 'shaping', 'policing', 'telemetry'],
  dashboard: ['model', 'redis', 'config', 'shaping', 'policing', 'http', 'telemetry'],
  plugins: ['model', 'redis', 'config', 'policing', 'http', 'telemetry'],
  client: [],
  cli: ['model', 'redis', 'config', 'shaping', 'policing', 'http', 'dashboard', 'client', 'telemetry'],
  main: ['cli'],
  index: ['model', 'redis', 'config', 'shaping', 'policing', 'http', 'telemetry'],
  workers: ['model', 'redis', 'config', 'shaping', 'telemetry'],
};
/** The one module that opens `lua/`, and the one that reads the environment. */
const SCRIPT_SOURCE = 'src/redis/script-source.ts';
const ENVIRONMENT = 'src/config/environment.ts';

/** One module as its text stands; `file` from the project's folder. */
interface Source {
  readonly file: string;
  readonly text: string;
}

interface Import {
  readonly from: string;
  /** Gone once compiled. */
  readonly typeOnly: boolean;
}

/** Everything in these modules that the house does not allow, a sentence each. */
function faultsOf(sources: readonly Source[]): string[] {
  return sources.flatMap((source) => {
    const { imports, strings, readsEnvironment } = read(source);
    const { file } = source;
    return [
      ...imports.flatMap((each) => importFault(file, each) ?? []),
      ...(readsEnvironment && file !== ENVIRONMENT ? [`${file} reads process.env`] : []),
      ...(strings.some((text) => /(^|\/)lua(\/|$)/.test(text)) && file !== SCRIPT_SOURCE ? [`${file} opens lua/`] : []),
      ...tooLong(source),
    ];
  });
}

function tooLong({ file, text }: Source): string[] {
  const lines = text.trimEnd().split('\n').length;
  return lines > LINES_LIMIT ? [`${file} has ${lines} lines, at most ${LINES_LIMIT}`] : [];
}

function importFault(file: string, { from, typeOnly }: Import): string | undefined {
  const part = partOf(file);
  if (!from.startsWith('.')) {
    const opensRedis = from === 'ioredis' && !typeOnly && part !== 'redis';
    return opensRedis ? `${file} imports ioredis` : undefined;
  }
  const target = relative(PROJECT, resolve(PROJECT, dirname(file), from));
  const other = partOf(target);
  if (part === other || (MAY_IMPORT[part] ?? []).includes(other)) return undefined;
  return `${file} imports ${target}`;
}

/** `src/http/app.ts` → `http`, `src/main.ts` → `main`, anything of `workers` → `workers`. */
function partOf(file: string): string {
  const [top = '', next = ''] = file.split('/');
  return top === 'src' ? next.replace(/\.[jt]s$/, '') : top;
}

/** What a module imports, which texts stand in it, and whether it touches the environment, by its syntax tree. */
function read({ file, text }: Source): { imports: Import[]; strings: string[]; readsEnvironment: boolean } {
  const { program, errors } = parseSync(file, text);
  const [error] = errors;
  if (error !== undefined) throw new Error(`${file}: ${error.message}`);
  const imports: Import[] = [];
  const strings: string[] = [];
  let readsEnvironment = false;
  walk(program, (node) => {
    const source = nodeOf(node.source);
    if (typeof source?.value === 'string') {
      imports.push({ from: source.value, typeOnly: isTypeOnly(node) });
    } else if (node.type === 'Literal' && typeof node.value === 'string') {
      strings.push(node.value);
    } else if (node.type === 'TemplateElement') {
      strings.push(String(nodeOf(node.value)?.cooked));
    }
    readsEnvironment ||= isEnvironment(node);
  });
  return { imports, strings, readsEnvironment };
}

type Node = Readonly<Record<string, unknown>>;

function nodeOf(value: unknown): Node | undefined {
  return typeof value === 'object' && value !== null ? { ...value } : undefined;
}

function walk(value: unknown, visit: (node: Node) => void): void {
  if (Array.isArray(value)) {
    for (const each of value) walk(each, visit);
    return;
  }
  const node = nodeOf(value);
  if (node === undefined) return;
  if (typeof node.type === 'string') visit(node);
  for (const child of Object.values(node)) walk(child, visit);
}

/** `import type …`, `export type … from`, or braces that hold types alone. */
function isTypeOnly(node: Node): boolean {
  if (node.importKind === 'type' || node.exportKind === 'type') return true;
  const { specifiers } = node;
  if (!Array.isArray(specifiers) || specifiers.length === 0) return false;
  return specifiers.map(nodeOf).every((each) => each?.importKind === 'type' || each?.exportKind === 'type');
}

/** `process.env`, `process['env']`, `{ env } = process`, `import { env } from 'node:process'`. */
function isEnvironment(node: Node): boolean {
  const isProcess = (value: unknown) => nodeOf(value)?.name === 'process';
  const isEnv = (value: unknown) => nodeOf(value)?.name === 'env' || nodeOf(value)?.value === 'env';
  if (node.type === 'MemberExpression') return isProcess(node.object) && isEnv(node.property);
  if (node.type === 'VariableDeclarator') {
    const properties = nodeOf(node.id)?.properties;
    return isProcess(node.init) && Array.isArray(properties) && properties.some((each) => isEnv(nodeOf(each)?.key));
  }
  const from = String(nodeOf(node.source)?.value);
  return (
    /^(node:)?process$/.test(from) &&
    Array.isArray(node.specifiers) &&
    node.specifiers.some((each) => isEnv(nodeOf(each)?.imported))
  );
}

function filesBelow(folder: string, ending: string): Source[] {
  return readdirSync(join(PROJECT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(ending))
    .map((name) => ({ file: join(folder, name), text: readFileSync(join(PROJECT, folder, name), 'utf8') }));
}

describe('the house', () => {
  const modules = [...filesBelow('src', '.ts'), ...filesBelow('workers', '.ts')];

  it('has modules in every part that a rule speaks of', () => {
    const parts = new Set(modules.map(({ file }) => partOf(file)));
    for (const part of [
      'model',
      'redis',
      'config',
      'shaping',
      'policing',
      'http',
      'dashboard',
      'plugins',
      'client',
      'cli',
      'workers',
    ])
      expect(parts).toContain(part);
    expect([...parts].filter((part) => !(part in MAY_IMPORT))).toEqual([]);
    expect(modules.map(({ file }) => file)).toEqual(expect.arrayContaining([SCRIPT_SOURCE, ENVIRONMENT]));
  });

  it('is built as it should be: imports point one way, one place each for Redis, Lua and the environment, small files', () => {
    expect(faultsOf(modules)).toEqual([]);
  });

  it(`has no Lua file of more than ${LINES_LIMIT} lines`, () => {
    const scripts = filesBelow('lua', '.lua');
    expect(scripts.length).toBeGreaterThan(10);
    expect(scripts.flatMap(tooLong)).toEqual([]);
  });
});

describe('the rules of the house', () => {
  it.each([
    ['model imports something of ours', 'src/model/a.ts', "import { b } from '../redis/b.js';"],
    ['model imports a type of ours', 'src/model/a.ts', "import type { B } from '../config/b.js';"],
    ['redis imports config', 'src/redis/a.ts', "export { b } from '../config/b.js';"],
    ['config imports redis', 'src/config/a.ts', "export * from '../redis/b.js';"],
    ['shaping imports http', 'src/shaping/a.ts', "import '../http/b.js';"],
    ['http imports cli', 'src/http/routes/a.ts', "const b = await import('../../cli/b.js');"],
    ['policing imports http', 'src/policing/a.ts', "import '../http/b.js';"],
    ['policing imports shaping', 'src/policing/a.ts', "import '../shaping/b.js';"],
    ['the client imports a type of ours', 'src/client/a.ts', "import type { B } from '../http/b.js';"],
    ['http imports dashboard', 'src/http/a.ts', "import '../dashboard/b.js';"],
    ['http imports plugins', 'src/http/a.ts', "import '../plugins/b.js';"],
    ['src imports workers', 'src/cli/a.ts', "import type { B } from '../../workers/b.js';"],
    ['workers import http', 'workers/a.ts', "import { b } from '../src/http/b.js';"],
    ['someone else opens Redis', 'src/http/a.ts', "import { Redis } from 'ioredis';"],
    ['someone else opens Redis among types', 'workers/a.ts', "import { type Cluster, Redis } from 'ioredis';"],
    ['someone else opens lua/', 'src/shaping/a.ts', "const at = new URL('../../lua/admit.lua', import.meta.url);"],
    ['someone else opens lua/ by its parts', 'src/shaping/a.ts', "const at = join(root, 'lua', `$" + '{verb}.lua`);'],
    ['someone else reads the environment', 'src/cli/a.ts', 'const { env } = process;'],
    ['someone else reads one variable', 'workers/a.ts', 'export const path = process.env.PATH;'],
    ['someone else imports the environment', 'src/redis/a.ts', "import { env } from 'node:process';"],
    ['a file is too long', 'src/model/a.ts', 'export {};\n'.repeat(LINES_LIMIT + 1)],
  ])('are broken where %s', (_, file, text) => {
    expect(faultsOf([{ file, text }])).toHaveLength(1);
  });

  it.each([
    ['a type of Redis anywhere', 'src/http/a.ts', "import type { Redis } from 'ioredis';"],
    ['types of Redis in braces', 'workers/a.ts', "import { type Redis } from 'ioredis';"],
    ['Redis below src/redis', 'src/redis/embedded/a.ts', "import { Redis } from 'ioredis';"],
    ['arguments and exit', 'src/cli/a.ts', 'process.exit(process.argv.length);'],
    [
      'words in comments',
      'src/http/a.ts',
      "// process.env.PATH, import { b } from '../cli/b.js', lua/admit.lua\nexport {};",
    ],
    ['a file as long as may be', 'src/model/a.ts', 'export {};\n'.repeat(LINES_LIMIT)],
  ])('allow %s', (_, file, text) => {
    expect(faultsOf([{ file, text }])).toEqual([]);
  });
});
