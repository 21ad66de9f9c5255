import type { Decoded } from './field.js';

/** Completes "expected …". */
export const KEY_FORM = 'an API key of 16 to 256 visible ASCII characters (only digits: in quotes), or env:NAME';

const MIN_LENGTH = 16;
const MAX_LENGTH = 256;

/** A key as it is written: itself, or `env:NAME` for the variable that holds it. A fault never repeats the key. */
export function apiKey(text: string, variables: NodeJS.ProcessEnv): Decoded<string> {
  return fromEnvironment(text, variables, checkedKey);
}

/** A secret as it is written: itself, or `env:NAME` for the variable that holds it. `prefix` tells where it came from. */
export function fromEnvironment(
  text: string,
  variables: NodeJS.ProcessEnv,
  check: (secret: string, prefix: string) => Decoded<string>,
): Decoded<string> {
  if (!text.startsWith('env:')) return check(text, '');
  const name = text.slice('env:'.length);
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name))
    return { fault: 'env: needs the name of a variable, such as env:ACME_KEY' };
  const value = Object.hasOwn(variables, name) ? variables[name] : undefined;
  if (value === undefined) return { fault: `the environment variable ${name} is not set` };
  if (value === '') return { fault: `the environment variable ${name} is empty` };
  return check(value, `the environment variable ${name}: `);
}

/** `prefix` says where the key came from. */
export function checkedKey(key: string, prefix: string): Decoded<string> {
  if (key.length < MIN_LENGTH)
    return { fault: `${prefix}an API key has at least ${MIN_LENGTH} characters, this one ${key.length}` };
  if (key.length > MAX_LENGTH)
    return { fault: `${prefix}an API key has at most ${MAX_LENGTH} characters, this one ${key.length}` };
  // It travels in an Authorization header, which can carry nothing else.
  if (!/^[\x21-\x7e]+$/.test(key))
    return { fault: `${prefix}an API key has visible ASCII characters only, and no space` };
  return { value: key };
}
