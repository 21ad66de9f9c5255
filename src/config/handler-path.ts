import { extname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Decoded } from './field.js';
import { shortened } from './problem.js';

/**
 * The absolute path of a handler. A bare name (`echo`) is a handler that comes with Headgate; anything else is a path
 * from `folder`. Whether the file is there is for the worker that loads it to say.
 */
export function handlerPath(text: string, folder: string): Decoded<string> {
  if (/^[a-z][a-z0-9-]*$/.test(text)) return { value: builtInPath(text) };
  if (/[./]/.test(text) && !text.endsWith('/') && !text.includes('\0')) return { value: resolve(folder, text) };
  return {
    fault: `expected a path such as ./handlers/ocr.ts or the name of a built-in handler; got ${JSON.stringify(shortened(text))}`,
  };
}

/** The built-in handlers stand beside this code, compiled when it is. */
function builtInPath(name: string): string {
  const here = fileURLToPath(import.meta.url);
  return resolve(here, `../../../workers/handlers/${name}${extname(here)}`);
}
