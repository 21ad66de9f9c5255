import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Decoded, TextContext } from './field.js';
import { readFault } from './read-fault.js';

/** What stands in the file of a password: its first line. A fault never repeats it. */
export function passwordOf(path: string, { folder }: TextContext): Decoded<string> {
  const file = resolve(folder, path);
  const read = textOf(file);
  if ('fault' in read) return read;
  const [first = '', ...rest] = read.value.split(/\r?\n/);
  if (rest.some((line) => line !== '')) return { fault: `${file} has more than one line; expected the password alone` };
  return first === '' ? { fault: `${file} is empty; expected a password` } : { value: first };
}

/** The text of a file with certificates. */
export function certificatesOf(path: string, { folder }: TextContext): Decoded<string> {
  return pemOf(resolve(folder, path), 'certificate', (pem) => new X509Certificate(pem));
}

/** The text of a file with a private key that needs no passphrase. */
export function privateKeyOf(path: string, { folder }: TextContext): Decoded<string> {
  return pemOf(resolve(folder, path), 'private key without a passphrase', createPrivateKey);
}

/** Whether a certificate was made for a key. */
export function belongTogether(cert: string, key: string): boolean {
  return new X509Certificate(cert).checkPrivateKey(createPrivateKey(key));
}

function pemOf(file: string, what: string, parse: (pem: string) => unknown): Decoded<string> {
  const read = textOf(file);
  if ('fault' in read) return read;
  try {
    parse(read.value);
    return read;
  } catch {
    return { fault: `${file} holds no ${what} (PEM)` };
  }
}

function textOf(file: string): Decoded<string> {
  try {
    return { value: readFileSync(file, 'utf8') };
  } catch (error) {
    return readFault(file, error);
  }
}
