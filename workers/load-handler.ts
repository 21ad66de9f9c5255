import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { createJiti } from 'jiti';
import * as contract from './handler.js';

/** A handler file cannot be used; the message names the file, says what is wrong and what was expected. */
export class HandlerLoadError extends Error {
  override readonly name = 'HandlerLoadError';
}

const EXPECTED =
  'expected a default export of { run: async (job, ctx) => result, timeoutMs?, isolate?, check?, close? }';
const KEYS: ReadonlySet<string> = new Set(['run', 'timeoutMs', 'isolate', 'check', 'close']);
/** The longest delay that a timer keeps: beyond it Node would fire at once. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

/**
 * Loads one handler file: TypeScript or JavaScript, ES module or CommonJS, anywhere on disk.
 *
 * The file may import `defineHandler`, `Unrecoverable` and `UpstreamBusy` from `headgate/handler` even where no such package is
 * installed: it is given this program's own.
 *
 * @param path Absolute, or relative to the working directory.
 * @throws HandlerLoadError for every fault of the file.
 */
export async function loadHandler(path: string): Promise<contract.Handler> {
  const file = resolve(path);
  await mustBeFile(file);
  return checked(file, exported(file, await evaluated(file)));
}

async function mustBeFile(file: string): Promise<void> {
  const found = await stat(file).catch((error: unknown) => {
    throw new HandlerLoadError(`handler ${file}: there is no such file`, { cause: error });
  });
  if (!found.isFile()) throw new HandlerLoadError(`handler ${file}: expected a file, found something else`);
}

async function evaluated(file: string): Promise<unknown> {
  // Without interop the shape of what the module exports is left as it is, so that the faults below can be told apart.
  const jiti = createJiti(import.meta.url, { interopDefault: false, virtualModules: { 'headgate/handler': contract } });
  try {
    return await jiti.import(file);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new HandlerLoadError(`handler ${file}: failed while loading: ${reason}`, { cause: error });
  }
}

/**
 * The default export of an ES module, or the whole of what a CommonJS module exports. Whether Node wraps the latter as
 * the default export of a namespace, and what a compiler wrote into it, is undone here.
 */
function exported(file: string, module: unknown): unknown {
  const outer = isEsModule(module) ? defaultOf(file, module) : module;
  return hasEsModuleMark(outer) ? defaultOf(file, outer) : outer;
}

function defaultOf(file: string, module: Record<PropertyKey, unknown>): unknown {
  if (!('default' in module)) throw new HandlerLoadError(`handler ${file}: no default export; ${EXPECTED}`);
  return module.default;
}

function isEsModule(module: unknown): module is Record<PropertyKey, unknown> {
  return hasEsModuleMark(module) || (isObject(module) && module[Symbol.toStringTag] === 'Module');
}

function hasEsModuleMark(module: unknown): module is Record<PropertyKey, unknown> {
  return isObject(module) && module.__esModule === true;
}

function checked(file: string, value: unknown): contract.Handler {
  const fault = (what: string) => new HandlerLoadError(`handler ${file}: ${what}; ${EXPECTED}`);
  if (!isObject(value)) throw fault(`the default export is ${described(value)}`);
  const unknownKeys = Object.keys(value).filter((key) => !KEYS.has(key));
  if (unknownKeys.length > 0) throw fault(`unknown ${unknownKeys.map((key) => `\`${key}\``).join(', ')}`);
  const { run, timeoutMs, isolate, check, close } = value;
  if (!isFunction(run)) throw fault(`\`run\` is ${described(run)}, not a function`);
  if (close !== undefined && !isFunction(close)) throw fault(`\`close\` is ${described(close)}, not a function`);
  if (check !== undefined && !isFunction(check)) throw fault(`\`check\` is ${described(check)}, not a function`);
  if (timeoutMs !== undefined && !isTimeout(timeoutMs)) {
    throw fault(`\`timeoutMs\` is ${described(timeoutMs)}, not a number of milliseconds from 1 to ${MAX_TIMEOUT_MS}`);
  }
  if (isolate !== undefined && typeof isolate !== 'boolean') {
    throw fault(`\`isolate\` is ${described(isolate)}, not true or false`);
  }
  if (isolate === true && close !== undefined) {
    throw fault('it has `isolate` and `close`: a thread ends with all that it holds, and nothing is closed');
  }
  return {
    run: async (job, ctx) => run.call(value, job, ctx),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(isolate === undefined ? {} : { isolate }),
    ...(check === undefined ? {} : { check: (options: unknown) => void check.call(value, options) }),
    ...(close === undefined ? {} : { close: async () => void (await close.call(value)) }),
  };
}

type AnyFunction = (this: unknown, ...args: unknown[]) => unknown;

function isFunction(value: unknown): value is AnyFunction {
  return typeof value === 'function';
}

function isObject(value: unknown): value is Record<PropertyKey, unknown> {
  return typeof value === 'object' && value !== null;
}

function isTimeout(value: unknown): value is number {
  return typeof value === 'number' && value >= 1 && value <= MAX_TIMEOUT_MS;
}

function described(value: unknown): string {
  if (value === undefined) return 'missing';
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value === 'function') return 'a function';
  if (Array.isArray(value)) return 'an array';
  return isObject(value) ? 'an object' : String(value);
}
