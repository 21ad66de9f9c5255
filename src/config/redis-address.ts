import { isAbsolute, resolve } from 'node:path';
import type { Decoded } from './field.js';

/** Which Redis to use. `url` is `redis://…`, `rediss://…` or the absolute path of a unix socket. */
export type RedisAddress = { readonly kind: 'embedded' } | { readonly kind: 'server'; readonly url: string };

/** Completes "expected …". */
export const REDIS_FORMS =
  'embedded, redis://HOST[:PORT][/DB], rediss://HOST[:PORT][/DB] or a unix socket (unix:///PATH, /PATH or ./PATH)';

/** Reads an address of Redis; a relative socket path starts from `folder`. A fault repeats no password. */
export function redisAddress(text: string, folder: string): Decoded<RedisAddress> {
  if (text === 'embedded') return { value: { kind: 'embedded' } };
  if (/^rediss?:\/\//.test(text)) return serverUrl(text);

  const path = text.startsWith('unix://') ? text.slice('unix://'.length) : text;
  const isPath = isAbsolute(path) || (path === text && /^\.\.?\//.test(path));
  // A question mark would begin options in the client's reading of a socket path.
  if (isPath && path !== '/' && !path.startsWith('//') && !/[?\0]/.test(path)) {
    return { value: { kind: 'server', url: resolve(folder, path) } };
  }
  const hint = /^[\w.-]+:\d+$/.test(text) ? `; did you mean redis://${text}?` : '';
  return { fault: `expected ${REDIS_FORMS}${hint === '' ? `; got ${quoted(text)}` : hint}` };
}

function serverUrl(text: string): Decoded<RedisAddress> {
  const fault = (what: string): Decoded<RedisAddress> => ({ fault: `${what}; expected ${REDIS_FORMS}` });
  if (!URL.canParse(text)) return fault('not a URL');
  const url = new URL(text);
  if (url.hostname === '') return fault('the URL names no host');
  if (url.port === '0') return fault('the URL names port 0');
  if (!/^\/?([0-9]{1,5})?$/.test(url.pathname)) return fault('what follows the host must be the number of a database');
  if (url.search !== '' || url.hash !== '') return fault('options in the URL are not supported');
  if (!canDecode(url.username) || !canDecode(url.password))
    return fault('user and password must be percent-encoded UTF-8');
  return { value: { kind: 'server', url: text } };
}

function canDecode(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

/** Text with an @ may hold a password. */
function quoted(text: string): string {
  return text.includes('@') ? 'something else' : JSON.stringify(text.slice(0, 60));
}
