import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isUnrecoverable } from '../../../workers/handler.js';
import { HandlerLoadError, loadHandler } from '../../../workers/load-handler.js';
import { contextFor, jobWith } from './running.js';

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'headgate-handler-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function written(name: string, source: string): Promise<string> {
  const file = join(folder, name);
  await writeFile(file, source);
  return file;
}

describe('a handler file anywhere on disk', () => {
  const plain = '{ run: async (job) => ({ got: job.data }), timeoutMs: 250 }';
  it.each([
    ['cjs.cjs', `module.exports = ${plain};`],
    ['cjs-named.cjs', `exports.run = async (job) => ({ got: job.data }); exports.timeoutMs = 250;`],
    ['transpiled.cjs', `Object.defineProperty(exports, '__esModule', { value: true }); exports.default = ${plain};`],
    ['cjs.js', `module.exports = ${plain};`],
    ['esm.js', `export default ${plain};`],
    ['esm.mjs', `export default ${plain};`],
    ['awaits.mjs', `const ms = await Promise.resolve(250); export default { ...${plain}, timeoutMs: ms };`],
    [
      'typed.ts',
      `const ms: number = 250; export default { run: async (job: { data: unknown }) => ({ got: job.data }), timeoutMs: ms };`,
    ],
    [
      'typed.mts',
      `const ms = 250 as const; export default { run: async (job: { data: unknown }) => ({ got: job.data }), timeoutMs: ms };`,
    ],
    [
      'typed.cts',
      `const ms: number = 250; module.exports = { run: async (job: { data: unknown }) => ({ got: job.data }), timeoutMs: ms };`,
    ],
    ['awaits.ts', `const ms: number = await Promise.resolve(250); export default { ...${plain}, timeoutMs: ms };`],
    [
      'defined.ts',
      `import { defineHandler, type HandlerJob } from 'headgate/handler';
       export default defineHandler({ run: async (job: HandlerJob) => ({ got: job.data }), timeoutMs: 250 });`,
    ],
    ['defined.cjs', `const { defineHandler } = require('headgate/handler'); module.exports = defineHandler(${plain});`],
  ])('is loaded from %s', async (name, source) => {
    const handler = await loadHandler(await written(name, source));
    expect(handler.timeoutMs).toBe(250);
    expect(await handler.run(jobWith({ data: 7 }), contextFor())).toEqual({ got: 7 });
  });

  it('may import its own neighbours', async () => {
    await written('neighbour.ts', `export const double = (n: number): number => 2 * n;`);
    const file = await written(
      'main.ts',
      `import { double } from './neighbour.js'; export default { run: () => double(21) };`,
    );
    expect(await (await loadHandler(file)).run(jobWith({}), contextFor())).toBe(42);
  });

  it('keeps its own `this`, turns a plain throw into a rejection and closes', async () => {
    const file = await written(
      'object.cjs',
      `module.exports = { run() { if (this.close === undefined) throw new Error('lost this'); throw new Error('as meant'); }, close() {} };`,
    );
    const handler = await loadHandler(file);
    await expect(handler.run(jobWith({}), contextFor())).rejects.toThrow('as meant');
    expect(await handler.close?.()).toBeUndefined();
  });

  it('says with Unrecoverable that no further attempt helps, whoever made the class', async () => {
    const imported = await written(
      'final.ts',
      `import { Unrecoverable } from 'headgate/handler'; export default { run: async () => { throw new Unrecoverable('never'); } };`,
    );
    const named = await written(
      'final.cjs',
      `module.exports = { run: async () => { throw Object.assign(new Error('never'), { name: 'UnrecoverableError' }); } };`,
    );
    const passing = await written(
      'passing.cjs',
      `module.exports = { run: async () => { throw new Error('later'); } };`,
    );
    const thrownBy = async (file: string): Promise<unknown> => {
      const { run } = await loadHandler(file);
      return Promise.resolve(run(jobWith({}), contextFor())).catch((error: unknown) => error);
    };
    expect(isUnrecoverable(await thrownBy(imported))).toBe(true);
    expect(isUnrecoverable(await thrownBy(named))).toBe(true);
    expect(isUnrecoverable(await thrownBy(passing))).toBe(false);
  });
});

describe('a handler file with a fault is refused with its name, the fault and what was expected', () => {
  it.each([
    ['throws.ts', `throw new Error('no licence');`, /failed while loading: no licence/],
    ['throws-text.cjs', `throw 'no licence';`, /failed while loading: no licence/],
    ['syntax.ts', `export default { run( => `, /failed while loading: .*Unexpected token/],
    [
      'imports.ts',
      `import x from './nothing.js'; export default x;`,
      /failed while loading: Cannot find module '.\/nothing.js'/,
    ],
    [
      'compiled.cjs',
      `Object.defineProperty(exports, '__esModule', { value: true }); exports.run = () => 1;`,
      /no default export/,
    ],
    ['empty.ts', ``, /`run` is missing.*; expected a default export of \{ run/],
    ['empty.cjs', ``, /`run` is missing/],
    ['named.mjs', `export const run = async () => 1;`, /no default export/],
    ['named.ts', `export const run = async () => 1;`, /no default export/],
    ['null.ts', `export default null;`, /the default export is null; expected/],
    ['number.ts', `export default 5;`, /the default export is 5; expected/],
    ['function.ts', `export default async () => 1;`, /the default export is a function; expected/],
    ['array.ts', `export default [];`, /`run` is missing, not a function/],
    ['no-run.ts', `export default { timeoutMs: 5 };`, /`run` is missing, not a function/],
    ['run-text.ts', `export default { run: 'go' };`, /`run` is "go", not a function/],
    ['close.ts', `export default { run: () => 1, close: true };`, /`close` is true, not a function/],
    [
      'unknown.ts',
      `export default { run: () => 1, retries: 3, timeout: 5 };`,
      /unknown `retries`, `timeout`; expected/,
    ],
    ['zero.ts', `export default { run: () => 1, timeoutMs: 0 };`, /`timeoutMs` is 0, not a number of milliseconds/],
    ['negative.ts', `export default { run: () => 1, timeoutMs: -1 };`, /`timeoutMs` is -1/],
    ['nan.ts', `export default { run: () => 1, timeoutMs: NaN };`, /`timeoutMs` is NaN/],
    ['forever.ts', `export default { run: () => 1, timeoutMs: Infinity };`, /`timeoutMs` is Infinity/],
    ['text-time.ts', `export default { run: () => 1, timeoutMs: '60s' };`, /`timeoutMs` is "60s"/],
  ])('%s', async (name, source, message) => {
    const file = await written(name, source);
    const error = await loadHandler(file).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(HandlerLoadError);
    expect(error).toHaveProperty('message', expect.stringContaining(file));
    expect(error).toHaveProperty('message', expect.stringMatching(message));
  });

  it('a missing file', async () => {
    const file = join(folder, 'absent.ts');
    await expect(loadHandler(file)).rejects.toThrow(`handler ${file}: there is no such file`);
  });

  it('a folder', async () => {
    await expect(loadHandler(folder)).rejects.toThrow(/expected a file, found something else/);
  });
});
