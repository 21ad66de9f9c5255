import { validateHeaderName, validateHeaderValue } from 'node:http';
import { OptionFault, refuseUnknown } from './option-fault.js';

/** What the `http` handler takes from a type's `options`; secrets filled in. */
export interface HttpOptions {
  readonly url: URL;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Where the answer says what the job cost, and how many of that make one unit. */
  readonly cost: { readonly path: readonly string[]; readonly per: number } | null;
  /** What waits while the upstream is busy. */
  readonly busyScope: 'bucket' | 'type';
  readonly maxResponseBytes: number;
  readonly allowPrivate: boolean;
}

type Fields = Readonly<Record<string, unknown>>;
export type Variables = Readonly<Record<string, string | undefined>>;

const METHODS = ['POST', 'PUT', 'PATCH'];
const MAX_RESPONSE_BYTES = 1_000_000;
const FIELDS = ['url', 'method', 'headers', 'cost', 'busyScope', 'maxResponseBytes', 'allowPrivate'];
/** Of the connection, or of the body that the handler writes. */
const OWN_HEADERS = new Set(
  'host connection content-length transfer-encoding keep-alive upgrade te trailer expect accept-encoding'.split(' '),
);

/**
 * Reads the options. Every fault names its field and none repeats a secret.
 *
 * @param variables Of the process that runs jobs. Without them any that is named is taken for set.
 * @throws OptionFault For the first field that cannot be used.
 */
export function httpOptions(options: Fields, variables?: Variables): HttpOptions {
  refuseUnknown(options, [], FIELDS);
  const {
    method = 'POST',
    busyScope = 'bucket',
    maxResponseBytes = MAX_RESPONSE_BYTES,
    allowPrivate = false,
  } = options;
  if (typeof method !== 'string' || !METHODS.includes(method)) throw fault('method', `one of ${METHODS.join(', ')}`);
  if (busyScope !== 'bucket' && busyScope !== 'type') throw fault('busyScope', 'bucket or type');
  if (typeof allowPrivate !== 'boolean') throw fault('allowPrivate', 'true or false');
  if (!isWhole(maxResponseBytes) || maxResponseBytes < 1 || maxResponseBytes > MAX_RESPONSE_BYTES) {
    throw fault('maxResponseBytes', `a whole number of bytes from 1 to ${MAX_RESPONSE_BYTES}`);
  }
  const headers = headersOf(options.headers ?? {}, variables);
  return {
    url: urlOf(options.url),
    method,
    headers,
    cost: costOf(options.cost),
    busyScope,
    maxResponseBytes,
    allowPrivate,
  };
}

function urlOf(value: unknown): URL {
  const url = typeof value === 'string' && URL.canParse(value) ? new URL(value) : undefined;
  if (url === undefined || !['http:', 'https:'].includes(url.protocol)) throw fault('url', 'an http or https URL');
  if (url.username !== '' || url.password !== '') throw fault('url', 'no user and password in it: use options.headers');
  return url;
}

function headersOf(value: unknown, variables: Variables | undefined): Record<string, string> {
  if (!isFields(value)) throw fault('headers', 'names and texts');
  const headers: Record<string, string> = { accept: '*/*', 'content-type': 'application/json' };
  for (const [name, text] of Object.entries(value)) headers[name.toLowerCase()] = headerOf(name, text, variables);
  return headers;
}

function headerOf(name: string, text: unknown, variables: Variables | undefined): string {
  const field = ['headers', name];
  if (!accepts(() => validateHeaderName(name)) || name === '__proto__') throw fault(field, 'the name of a header');
  if (OWN_HEADERS.has(name.toLowerCase())) throw fault(field, 'none of this name: the handler sets it itself');
  if (typeof text !== 'string') throw fault(field, 'a text, such as Bearer env:UPSTREAM_KEY');
  const value = text.replace(/(?<=^| )env:(\S*)/g, (_, variable: string) => {
    if (variables === undefined) return 'set';
    const found = Object.hasOwn(variables, variable) ? variables[variable] : undefined;
    if (found === undefined || found === '') throw fault(field, `the environment variable ${variable} to be set`);
    return found;
  });
  if (!accepts(() => validateHeaderValue(name, value))) throw fault(field, 'characters that a header can carry');
  return value;
}

function costOf(value: unknown): HttpOptions['cost'] {
  if (value === undefined) return null;
  if (!isFields(value)) throw fault('cost', '{ from: usage.total_tokens, per: 1000 }');
  refuseUnknown(value, ['cost'], ['from', 'per']);
  const { from, per = 1 } = value;
  if (typeof from !== 'string' || !/^[^.\s]+(\.[^.\s]+)*$/.test(from)) {
    throw fault(['cost', 'from'], 'a field of the answer, such as usage.total_tokens');
  }
  if (typeof per !== 'number' || !Number.isFinite(per) || per <= 0) throw fault(['cost', 'per'], 'a number above 0');
  return { path: from.split('.'), per };
}

function fault(field: string | readonly string[], expected: string): OptionFault {
  return new OptionFault(typeof field === 'string' ? [field] : field, `expected ${expected}`);
}

function accepts(check: () => void): boolean {
  try {
    check();
    return true;
  } catch {
    return false;
  }
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isWhole(value: unknown): value is number {
  return Number.isSafeInteger(value);
}
