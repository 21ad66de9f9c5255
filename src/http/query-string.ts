import { shortened } from '../config/problem.js';
import { nameHint } from './name-hint.js';
import { accepted, type Checked, refused } from './problems.js';
import { shown } from './shown.js';

/** How a parameter is read: as it stands, or as a number in plain decimal digits. */
export type ParameterKind = 'text' | 'integer' | 'number';

/** `0x10`, `1e3`, ` 5 `, `+5`, `05` and an empty value are not whole numbers in plain digits. */
const PLAIN_INTEGER = /^(?:0|[1-9][0-9]{0,14})$/;
const PLAIN_NUMBER = /^(?:0|[1-9][0-9]{0,14})(?:\.[0-9]{1,15})?$/;

/**
 * Reads a query string strictly: only known parameters, each at most once, percent-encoding without mistakes.
 *
 * @param text The query string without its `?`.
 * @param kinds The known parameters.
 */
export function readQuery(
  text: string,
  kinds: Readonly<Record<string, ParameterKind>>,
): Checked<Record<string, string | number>> {
  const values: Record<string, string | number> = {};
  for (const part of text.split('&')) {
    if (part === '') continue;
    const cut = part.indexOf('=');
    const name = decoded(cut === -1 ? part : part.slice(0, cut));
    if (name === undefined) return refused(invalid('query', 'The query string is not valid percent-encoded UTF-8.'));
    const kind = Object.hasOwn(kinds, name) ? kinds[name] : undefined;
    if (kind === undefined) {
      const known = Object.keys(kinds);
      const hint = nameHint(name, known, 'parameters');
      return refused({
        code: 'unknown_field',
        field: shortened(name) || 'query',
        detail: `${shown(name)} is no parameter here: ${hint}`,
      });
    }
    if (Object.hasOwn(values, name)) return refused(invalid(name, `\`${name}\` is given more than once.`));
    const value = decoded(cut === -1 ? '' : part.slice(cut + 1));
    if (value === undefined) return refused(invalid(name, `\`${name}\` is not valid percent-encoded UTF-8.`));
    if (kind === 'integer' && !PLAIN_INTEGER.test(value)) {
      return refused(invalid(name, `\`${name}\` must be a whole number in digits; got ${shown(value)}.`));
    }
    if (kind === 'number' && !PLAIN_NUMBER.test(value)) {
      return refused(invalid(name, `\`${name}\` must be a number in digits; got ${shown(value)}.`));
    }
    values[name] = kind === 'text' ? value : Number(value);
  }
  return accepted(values);
}

function invalid(field: string, detail: string) {
  return { code: 'invalid_field', field, detail } as const;
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}
