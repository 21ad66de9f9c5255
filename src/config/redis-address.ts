import { isAbsolute, resolve } from 'node:path';
import type { Decoded } from './field.js';
import { type ListenAddress, listenAddress } from './listen-address.js';
import { shortened } from './problem.js';

/** Which Redis to use: one that Headgate brings up itself, or servers that are there. */
export type RedisAddress = { readonly kind: 'embedded' } | RedisServers;

/** Servers that are there: one of them, what Sentinels call the master, or a cluster. */
export type RedisServers = RedisAccess &
  (
    | {
        readonly kind: 'server';
        /** `redis://…`, `rediss://…` or the absolute path of a unix socket. */
        readonly url: string;
      }
    | { readonly kind: 'sentinel'; readonly sentinel: SentinelAddress }
    | { readonly kind: 'cluster'; readonly nodes: readonly ListenAddress[] }
  );

/** How one is let in, and what one keeps to. */
export interface RedisAccess extends RedisLogin {
  /** There: TLS, also where the URL does not say so. */
  readonly tls?: RedisTls;
  /** In front of every key and channel. */
  readonly keyPrefix?: string;
  /** Replicas that have to hold an accepted job before it is answered. */
  readonly waitForReplicas?: number;
}

export interface RedisLogin {
  readonly username?: string;
  readonly password?: string;
}

/** Whom to believe and how to prove oneself, PEM each. Without `ca` the authorities that Node knows are believed. */
export interface RedisTls {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  /** The name that the server's certificate has to have, in place of its host. */
  readonly serverName?: string;
}

/** Sentinels that know who is the master. */
export interface SentinelAddress extends RedisLogin {
  /** What they call it. */
  readonly name: string;
  readonly nodes: readonly ListenAddress[];
  /** Number of the database. */
  readonly db?: number;
}

/** Completes "expected …". */
export const SERVER_FORMS =
  'redis://HOST[:PORT][/DB], rediss://HOST[:PORT][/DB] or a unix socket (unix:///PATH, /PATH or ./PATH)';

/** Completes "expected …". */
export const REDIS_FORMS = `embedded, ${SERVER_FORMS}`;

/** Completes "expected …". */
export const NODE_FORM = 'HOST:PORT such as 10.0.0.1:6379 or "[::1]:6379"';

/** Reads an address of Redis; a relative socket path starts from `folder`. A fault repeats no password. */
export function redisAddress(text: string, folder: string): Decoded<RedisAddress> {
  if (text === 'embedded') return { value: { kind: 'embedded' } };
  return serverAddress(text, folder, REDIS_FORMS);
}

/** The same without `embedded`. */
export function serverAddress(
  text: string,
  folder: string,
  forms = SERVER_FORMS,
): Decoded<RedisServers & { readonly kind: 'server' }> {
  if (/^rediss?:\/\//.test(text)) return serverUrl(text, forms);

  const path = text.startsWith('unix://') ? text.slice('unix://'.length) : text;
  const isPath = isAbsolute(path) || (path === text && /^\.\.?\//.test(path));
  // A question mark would begin options in the client's reading of a socket path.
  if (isPath && path !== '/' && !path.startsWith('//') && !/[?\0]/.test(path)) {
    return { value: { kind: 'server', url: resolve(folder, path) } };
  }
  const hint = /^[\w.-]+:\d+$/.test(text) ? `; did you mean redis://${text}?` : '';
  return { fault: `expected ${forms}${hint === '' ? `; got ${quoted(text)}` : hint}` };
}

/** A Sentinel, or a node of a cluster. */
export function redisNode(text: string): Decoded<ListenAddress> {
  const read = listenAddress(text);
  if ('value' in read && read.value.port > 0) return read;
  return { fault: `expected ${NODE_FORM}; got ${text.includes('@') ? 'something else' : quoted(shortened(text))}` };
}

function serverUrl(text: string, forms: string): Decoded<RedisServers & { readonly kind: 'server' }> {
  const fault = (what: string): { fault: string } => ({ fault: `${what}; expected ${forms}` });
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
