import { suggestName } from './nearest-name.js';

/** What is wrong with one of a handler's options. */
export class OptionFault extends TypeError {
  override readonly name = 'OptionFault';
  /** Where, from the type's `options` on. */
  readonly path: readonly string[];
  /** What is wrong, without the place. */
  readonly what: string;

  constructor(path: readonly string[], what: string) {
    super(`${['options', ...path].join('.')}: ${what}`);
    this.path = path;
    this.what = what;
  }
}

/** @throws OptionFault For the first option at `path` that nobody knows. */
export function refuseUnknown(options: object, path: readonly string[], known: readonly string[]): void {
  const unknown = Object.keys(options).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  throw new OptionFault([...path, unknown], `unknown field; ${suggestName(unknown, known, 'options here')}`);
}
