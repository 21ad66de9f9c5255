import { resolve } from 'node:path';
import { BUILT_IN_NAMES, builtInPath } from './built-in-handlers.js';
import type { Decoded } from './field.js';
import { suggestName } from './nearest-name.js';
import { shortened } from './problem.js';

/**
 * The absolute path of a handler. A bare name (`echo`) is a handler that comes with Headgate; anything else is a path
 * from `folder`. Whether the file is there is for the worker that loads it to say.
 */
export function handlerPath(text: string, folder: string): Decoded<string> {
  if (BUILT_IN_NAMES.includes(text)) return { value: builtInPath(text) };
  if (/^[a-z][a-z0-9-]*$/.test(text)) {
    const suggestion = suggestName(text, BUILT_IN_NAMES, 'built-in handlers');
    return { fault: `there is no built-in handler ${JSON.stringify(shortened(text))}; ${suggestion}` };
  }
  if (/[./]/.test(text) && !text.endsWith('/') && !text.includes('\0')) return { value: resolve(folder, text) };
  return {
    fault: `expected a path such as ./handlers/ocr.ts or the name of a built-in handler; got ${JSON.stringify(shortened(text))}`,
  };
}
