import type { Path } from './problem.js';
import type { ProblemList } from './problem-list.js';
import type { RedisAddress, RedisLogin, RedisServers, RedisTls } from './redis-address.js';
import { belongTogether } from './redis-files.js';
import type { RedisClusterFields, RedisFields, RedisSentinelFields, RedisServerFields } from './redis-schema.js';

type Mapping = RedisServerFields | RedisSentinelFields | RedisClusterFields;
type LoginFields = Pick<Mapping, 'username' | 'password' | 'passwordFile'>;

/** What is wrong between the fields of `redis` that are each fine by themselves. */
export function checkRedis(fields: RedisFields, problems: ProblemList): void {
  const path = ['redis'];
  if ('kind' in fields || !problems.soundWithin(path)) return;
  checkLogin(fields, path, problems);
  if ('sentinel' in fields) {
    checkLogin(fields.sentinel, [...path, 'sentinel'], problems);
    if (fields.sentinel.nodes.length === 0) problems.add([...path, 'sentinel', 'nodes'], 'expected at least one');
  }
  if ('cluster' in fields && fields.cluster.length === 0) {
    problems.add([...path, 'cluster'], 'expected at least one node');
  }
  if ('url' in fields) checkUrl(fields, path, problems);
  if (fields.tls !== undefined) checkTls(fields.tls, [...path, 'tls'], problems);
}

/** The Redis that the fields name. */
export function redisOf(fields: RedisFields): RedisAddress {
  if ('kind' in fields) return fields;
  const { tls, keyPrefix, waitForReplicas } = fields;
  const access = {
    ...loginOf(fields),
    ...(tls && { tls }),
    ...(keyPrefix !== undefined && { keyPrefix }),
    ...(waitForReplicas !== undefined && { waitForReplicas }),
  };
  return { ...access, ...placeOf(fields) };
}

function placeOf(fields: Mapping): RedisServers {
  if ('url' in fields) return fields.url;
  if ('cluster' in fields) return { kind: 'cluster', nodes: fields.cluster };
  const { name, nodes, db } = fields.sentinel;
  const sentinel = { name, nodes, ...(db !== undefined && { db }), ...loginOf(fields.sentinel) };
  return { kind: 'sentinel', sentinel };
}

function loginOf({ username, password, passwordFile }: LoginFields): RedisLogin {
  const secret = password ?? passwordFile;
  return { ...(username !== undefined && { username }), ...(secret !== undefined && { password: secret }) };
}

function checkLogin({ username, password, passwordFile }: LoginFields, path: Path, problems: ProblemList): void {
  if (password !== undefined && passwordFile !== undefined) {
    problems.add([...path, 'password'], 'say password or passwordFile, not both');
  }
  if (username !== undefined && password === undefined && passwordFile === undefined) {
    problems.add([...path, 'username'], 'a user needs a password, or passwordFile');
  }
}

/** A URL says everything that it can, or the fields beside it do. */
function checkUrl(fields: RedisServerFields, path: Path, problems: ProblemList): void {
  const isSocket = fields.url.url.startsWith('/');
  if (isSocket) {
    if (fields.tls !== undefined) problems.add([...path, 'tls'], 'a unix socket has no TLS');
    return;
  }
  const url = new URL(fields.url.url);
  for (const field of ['username', 'password'] as const) {
    if (
      url[field] !== '' &&
      (fields[field] ?? (field === 'password' ? fields.passwordFile : undefined)) !== undefined
    ) {
      problems.add([...path, field], `the URL has a ${field} too; say it once`);
    }
  }
  if (fields.tls !== undefined && url.protocol === 'redis:') {
    problems.add([...path, 'tls'], 'redis:// is without TLS; say rediss://');
  }
}

function checkTls({ cert, key }: RedisTls, path: Path, problems: ProblemList): void {
  if ((cert === undefined) !== (key === undefined)) {
    problems.add([...path, cert === undefined ? 'key' : 'cert'], 'cert and key go together');
  } else if (cert !== undefined && key !== undefined && !belongTogether(cert, key)) {
    problems.add([...path, 'key'], 'this is not the key of cert');
  }
}
