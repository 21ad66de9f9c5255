import { isIP } from 'node:net';
import type { ClusterNode, RedisOptions } from 'ioredis';

/** Between two rounds through Sentinels none of which answers. */
const SENTINELS_AGAIN_MS = 500;

/** Where a Redis is: a URL (`redis://`, `rediss://`), a unix socket, or what Sentinels call the master. */
export type RedisTarget = RedisAccess &
  ({ readonly url: string } | { readonly socketPath: string } | { readonly sentinel: SentinelPlace });

/** Where a cluster is: some of its nodes. */
export type ClusterTarget = RedisAccess & { readonly cluster: readonly RedisNode[] };

export interface RedisNode {
  readonly host: string;
  readonly port: number;
}

/** Sentinels and what they call the master; they are spoken to over TLS where the servers are. */
export interface SentinelPlace extends Login {
  readonly name: string;
  readonly nodes: readonly RedisNode[];
  /** Number of the database; 0 unless given. */
  readonly db?: number;
}

interface Login {
  readonly username?: string;
  readonly password?: string;
}

/** How one is let in, over what is said in a URL, and what every key and channel begins with. */
export interface RedisAccess extends Login {
  readonly tls?: TlsTerms;
  readonly keyPrefix?: string;
}

/** PEM texts, and the name that the server's certificate has to have, in place of its host. */
export interface TlsTerms {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly serverName?: string;
}

/** An address as a configuration has it. */
export type ConfiguredServers = RedisAccess &
  (
    | { readonly kind: 'server'; readonly url: string }
    | { readonly kind: 'sentinel'; readonly sentinel: SentinelPlace }
    | { readonly kind: 'cluster'; readonly nodes: readonly RedisNode[] }
  );

/** The target that an address of a configuration means. */
export function targetOf(servers: ConfiguredServers): RedisTarget | ClusterTarget {
  const { username, password, tls, keyPrefix } = servers;
  const access: RedisAccess = {
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    ...(tls !== undefined && { tls }),
    ...(keyPrefix !== undefined && { keyPrefix }),
  };
  switch (servers.kind) {
    case 'server':
      return { ...access, ...(servers.url.startsWith('/') ? { socketPath: servers.url } : { url: servers.url }) };
    case 'sentinel':
      return { ...access, sentinel: servers.sentinel };
    case 'cluster':
      return { ...access, cluster: servers.nodes };
  }
}

/** A target in a few words, for people and logs: never with a password. */
export function describeTarget(target: RedisTarget | ClusterTarget): string {
  const joined = (nodes: readonly RedisNode[]) => nodes.map(({ host, port }) => `${host}:${port}`).join(', ');
  if ('socketPath' in target) return target.socketPath;
  if ('sentinel' in target) return `${target.sentinel.name} of the Sentinels ${joined(target.sentinel.nodes)}`;
  if ('cluster' in target) return `the cluster of ${joined(target.cluster)}`;
  const url = new URL(target.url);
  url.password = '';
  return url.toString();
}

/** The user that one logs in as. */
export function userOf(target: RedisTarget | ClusterTarget): string {
  const inUrl = 'url' in target ? decodeURIComponent(new URL(target.url).username) : '';
  return target.username ?? (inUrl || 'default');
}

/** Options of a connection to one server, or to the master that Sentinels name. */
export function addressOf(target: RedisTarget, deadlineMs: number): RedisOptions {
  const access = accessOptions(target);
  if ('socketPath' in target) return { path: target.socketPath, ...access };
  if ('sentinel' in target) return { ...sentinelOptions(target.sentinel, access, deadlineMs), ...access };
  const url = new URL(target.url);
  const host = url.hostname.replace(/^\[|\]$/g, '');
  return {
    host,
    port: Number(url.port || 6379),
    ...(url.username && { username: decodeURIComponent(url.username) }),
    ...(url.password && { password: decodeURIComponent(url.password) }),
    ...(url.pathname.length > 1 && { db: Number(url.pathname.slice(1)) }),
    ...access,
    ...(url.protocol === 'rediss:' && { tls: tlsOptions(target.tls ?? {}, host) }),
  };
}

/** What holds for every node of a cluster. */
export function clusterAddressOf({ cluster, ...access }: ClusterTarget): {
  nodes: ClusterNode[];
  redisOptions: AccessOptions;
} {
  return { nodes: cluster.map(({ host, port }) => ({ host, port })), redisOptions: accessOptions(access) };
}

function sentinelOptions(
  { name, nodes, db, username, password }: SentinelPlace,
  { tls }: AccessOptions,
  deadlineMs: number,
): RedisOptions {
  return {
    name,
    sentinels: nodes.map(({ host, port }) => ({ host, port })),
    // Without a number the client would give up for good.
    sentinelRetryStrategy: () => SENTINELS_AGAIN_MS,
    sentinelCommandTimeout: deadlineMs,
    ...(username !== undefined && { sentinelUsername: username }),
    ...(password !== undefined && { sentinelPassword: password }),
    ...(db !== undefined && { db }),
    ...(tls && { sentinelTLS: tls, enableTLSForSentinelMode: true }),
  };
}

type AccessOptions = Pick<RedisOptions, 'username' | 'password' | 'tls' | 'keyPrefix'>;

function accessOptions({ username, password, tls, keyPrefix }: RedisAccess): AccessOptions {
  return {
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    ...(tls !== undefined && { tls: tlsOptions(tls) }),
    ...(keyPrefix !== undefined && { keyPrefix }),
  };
}

/** A name goes to the server (SNI); an address does not, and is held against the certificate all the same. */
function tlsOptions({ serverName, ...files }: TlsTerms, host = ''): NonNullable<RedisOptions['tls']> {
  const name = serverName ?? (isIP(host) === 0 ? host : '');
  return { ...files, ...(name !== '' && { servername: name }) };
}
