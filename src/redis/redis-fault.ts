import { type ClusterTarget, describeTarget, type RedisTarget, userOf } from './redis-target.js';

/** Why a Redis cannot be used. */
export interface RedisFault {
  /** `misconfigured`: nothing will change by itself. `away`: it may come, or come back. */
  readonly kind: 'misconfigured' | 'away';
  /** The field of the configuration that it is about. */
  readonly field: string;
  /** What is the matter; never with a password. */
  readonly says: string;
  readonly mend: string;
}

/** Where functions, which all scripts are, came in (https://redis.io/docs/latest/develop/programmability/functions-intro/). */
const OLDEST_MAJOR = 7;

type Target = RedisTarget | ClusterTarget;
type Words = Omit<RedisFault, 'kind' | 'field'> & Partial<Pick<RedisFault, 'kind' | 'field'>>;

/** Errors of the client and the server that say that something is wrong with the configuration; the first that matches. */
const KNOWN: readonly (readonly [pattern: RegExp, words: (target: Target, message: string) => Words])[] = [
  [
    /sentinel.*(WRONGPASS|NOAUTH)/s,
    () => ({
      field: 'redis.sentinel.password',
      says: 'the Sentinels do not take this user and password',
      mend: 'correct sentinel.username, and sentinel.password or sentinel.passwordFile',
    }),
  ],
  [
    /WRONGPASS/,
    (target) => ({
      field: 'redis.password',
      says: `the server does not know user "${userOf(target)}" with this password`,
      mend: 'correct username, password or passwordFile, or the URL',
    }),
  ],
  [/NOAUTH/, () => ({ field: 'redis.password', says: 'the server wants a password', mend: 'give one' })],
  [
    /NOPERM/,
    (target, message) => ({
      field: 'redis.username',
      says: `user "${userOf(target)}" may not run ${/'([^']+)' command/.exec(message)?.[1] ?? 'a command'}`,
      mend: 'docs/redis.md has the rights that are needed',
    }),
  ],
  [
    /ERR_TLS_CERT_ALTNAME_INVALID|Hostname\/IP does not match/,
    (_, message) => ({
      field: 'redis.tls.serverName',
      says: `the certificate is for another name: ${/Reason: (.*)|altnames: (.*)/.exec(message)?.[0] ?? message}`,
      mend: 'name the server as its certificate does, or set serverName',
    }),
  ],
  [
    /self[- ]signed certificate|unable to (verify|get)|UNABLE_TO|SELF_SIGNED/i,
    () => ({
      field: 'redis.tls.ca',
      says: 'nobody who is believed has signed the certificate of the server',
      mend: 'set ca to the certificate of the authority that has',
    }),
  ],
  [
    /certificate has expired|CERT_HAS_EXPIRED|not yet valid/i,
    () => ({ field: 'redis.tls', says: 'the certificate of the server is out of its time', mend: 'renew it' }),
  ],
  [
    /certificate required|bad certificate|handshake failure|unknown ca/i,
    () => ({
      field: 'redis.tls.cert',
      says: 'the server does not take the certificate that it was shown, if any',
      mend: 'set cert and key to what it believes',
    }),
  ],
  [/wrong version number|packet length too long|ERR_SSL_(WRONG_VERSION|PACKET_LENGTH)/i, () => PLAIN_PORT],
  [
    /invalid reply: null|No such master with that name/,
    (target) => ({
      field: 'redis.sentinel.name',
      says: `the Sentinels know no master "${'sentinel' in target ? target.sentinel.name : ''}"`,
      mend: 'correct the name',
    }),
  ],
  [
    /failed to connect to sentinel|All sentinels are unreachable/,
    (target) => ({
      kind: 'away',
      field: 'redis.sentinel.nodes',
      says: `none of the Sentinels answers (${describeTarget(target)})`,
      mend: 'start them, or correct their addresses',
    }),
  ],
];

/** TLS was spoken to a port without it. */
export const PLAIN_PORT: Words = {
  field: 'redis',
  says: 'the port does not speak TLS',
  mend: 'say redis:// in place of rediss:// (tls in a mapping), or name the TLS port',
};

/** A port with TLS was spoken to without. */
export const TLS_PORT: Words = {
  field: 'redis',
  says: 'the port speaks TLS only',
  mend: 'say rediss:// in place of redis:// (tls in a mapping), or name the plain port',
};

export function misconfigured({ kind = 'misconfigured', field = 'redis', ...words }: Words): RedisFault {
  return { kind, field, ...words };
}

/** What an error of the connection means. */
export function faultOf(message: string, target: Target): RedisFault {
  const words = KNOWN.find(([pattern]) => pattern.test(message))?.[1];
  if (words !== undefined) return misconfigured(words(target, message));
  return {
    kind: 'away',
    field: 'redis',
    says: `the configured server does not answer: ${message}`,
    mend: 'start it, or correct `redis:` (or REDIS_URL)',
  };
}

/** What a server says of itself. */
export interface ServerSelf {
  readonly version: string;
  readonly role: string;
  readonly isCluster: boolean;
}

/** What is wrong with a server that answers. */
export function faultOfServer({ version, role, isCluster }: ServerSelf, target: Target): RedisFault | undefined {
  if (Number.parseInt(version, 10) < OLDEST_MAJOR) {
    return misconfigured({ says: `version ${version} has no functions`, mend: 'use Redis 7.0 or later, or Valkey' });
  }
  const wantsCluster = 'cluster' in target;
  if (isCluster && !wantsCluster) {
    return misconfigured({
      says: 'it is a node of a cluster',
      mend: 'name it under redis.cluster, or name a single server',
    });
  }
  if (!isCluster && wantsCluster) {
    return misconfigured({
      field: 'redis.cluster',
      says: `${describeTarget(target)} is a single server`,
      mend: 'name it as an address, redis://HOST:PORT',
    });
  }
  if (role === 'slave' && !wantsCluster) {
    return misconfigured({ says: 'it is a replica, which takes no writes', mend: 'name the master, or Sentinels' });
  }
  return undefined;
}
