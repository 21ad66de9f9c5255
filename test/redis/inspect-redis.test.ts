import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { inspectRedis } from '../../src/redis/inspect-redis.js';
import type { ClusterTarget, RedisTarget } from '../../src/redis/redis-target.js';
import { faultOfRights, refuseUnusable } from '../../src/redis/refuse-unusable.js';
import { aclRules, neededCommands } from '../../src/redis/rights.js';
import { makeCertificates, type TestCertificates } from '../support/certificates.js';
import { startOldRedis } from '../support/old-redis.js';
import { startRedis, type TestRedis } from '../support/redis-server.js';
import { startSentinel } from '../support/sentinel.js';
import { freePort } from '../system/support/free-port.js';

const WITHIN_MS = 10_000;
const SECRET = 'hunter2-is-a-secret';

const servers: TestRedis[] = [];
let certificates: TestCertificates;
let plain: TestRedis;
let secure: TestRedis & { tlsPort: number };
let admin: Redis;
let old: Awaited<ReturnType<typeof startOldRedis>>;

async function server(args: readonly string[] = []): Promise<TestRedis> {
  const redis = await startRedis({ port: true, args });
  servers.push(redis);
  return redis;
}

beforeAll(async () => {
  certificates = makeCertificates('redis.example');
  const { ca, cert, key } = certificates;
  plain = await server(['--aclfile', '']);
  admin = plain.client();
  await admin.acl('SETUSER', 'app', 'on', `>${SECRET}`, ...aclRules());
  const withTls = await server();
  const tlsPort = await freePort();
  const config = withTls.client();
  await config.config(
    'SET',
    'tls-port',
    tlsPort,
    'tls-cert-file',
    cert,
    'tls-key-file',
    key,
    'tls-ca-cert-file',
    ca,
    'tls-auth-clients',
    'no',
  );
  secure = { ...withTls, tlsPort };
  old = await startOldRedis('6.2.14');
});

afterAll(async () => {
  old?.stop();
  for (const each of servers) await each.stop();
  certificates?.remove();
});

async function faultAt(target: RedisTarget | ClusterTarget): Promise<string> {
  const found = await inspectRedis(target, WITHIN_MS, true);
  const fault = 'fault' in found ? found.fault : faultOfRights(found.facts.missing, target);
  const text = fault === undefined ? 'none' : `${fault.kind} ${fault.field}: ${fault.says}`;
  expect(JSON.stringify(found)).not.toContain(SECRET);
  return text;
}

const host = (redis: TestRedis) => ({ host: '127.0.0.1', port: Number(redis.port) });

describe('a Redis that can be used', () => {
  test('by everybody', async () => {
    expect(await faultAt({ url: String(plain.url) })).toBe('none');
  });

  test('by a user with the least rights', async () => {
    expect(await faultAt({ url: String(plain.url), username: 'app', password: SECRET })).toBe('none');
  });

  test('over TLS, by the name of its certificate', async () => {
    const ca = readFileSync(certificates.ca, 'utf8');
    const tls = { ca, serverName: 'redis.example' };
    expect(await faultAt({ url: `rediss://127.0.0.1:${secure.tlsPort}`, tls })).toBe('none');
  });
});

describe('a Redis that cannot be used says why', () => {
  const tls = () => ({ ca: readFileSync(certificates.ca, 'utf8') });
  test.each<[string, () => RedisTarget | ClusterTarget | Promise<RedisTarget | ClusterTarget>, string]>([
    [
      'nobody there',
      () => ({ url: 'redis://127.0.0.1:1' }),
      'away redis: the configured server does not answer: ECONNREFUSED',
    ],
    [
      'a wrong password',
      () => ({ url: String(plain.url), username: 'app', password: `${SECRET}x` }),
      'misconfigured redis.password: the server does not know user "app" with this password',
    ],
    [
      'an unknown user',
      () => ({ url: String(plain.url), username: 'nobody', password: SECRET }),
      'misconfigured redis.password: the server does not know user "nobody" with this password',
    ],
    [
      'a certificate for another name',
      () => ({ url: `rediss://127.0.0.1:${secure.tlsPort}`, tls: tls() }),
      'misconfigured redis.tls.serverName: the certificate is for another name',
    ],
    [
      'an authority nobody knows',
      () => ({ url: `rediss://localhost:${secure.tlsPort}` }),
      'misconfigured redis.tls.ca: nobody who is believed has signed the certificate of the server',
    ],
    [
      'TLS to a plain port',
      () => ({ url: `rediss://127.0.0.1:${plain.port}` }),
      'misconfigured redis: the port does not speak TLS',
    ],
    [
      'plain to a TLS port',
      () => ({ url: `redis://127.0.0.1:${secure.tlsPort}` }),
      'misconfigured redis: the port speaks TLS only',
    ],
    ['too old a server', () => ({ url: old.url }), 'misconfigured redis: version 6.2.14 has no functions'],
    [
      'a single server as a cluster',
      () => ({ cluster: [host(plain)] }),
      `misconfigured redis.cluster: the cluster of 127.0.0.1:PORT is a single server`,
    ],
    [
      'no Sentinel',
      () => ({ sentinel: { name: 'main', nodes: [{ host: '127.0.0.1', port: 1 }] } }),
      'away redis.sentinel.nodes: none of the Sentinels answers (main of the Sentinels 127.0.0.1:1)',
    ],
  ])('%s', async (_, target, says) => {
    expect(await faultAt(await target())).toContain(says.replace('PORT', String(plain.port)));
  });

  test('a password that is missing', async () => {
    const closed = await server(['--requirepass', SECRET]);
    expect(await faultAt({ url: String(closed.url) })).toBe(
      'misconfigured redis.password: the server wants a password',
    );
  });

  test('a replica', async () => {
    const replica = await server(['--replicaof', '127.0.0.1', String(plain.port)]);
    expect(await faultAt({ url: String(replica.url) })).toBe(
      'misconfigured redis: it is a replica, which takes no writes',
    );
  });

  test('a node of a cluster, and a cluster that is down', async () => {
    const node = await server(['--cluster-enabled', 'yes', '--cluster-port', String(await freePort())]);
    expect(await faultAt({ url: String(node.url) })).toBe('misconfigured redis: it is a node of a cluster');
    expect(await faultAt({ cluster: [host(node)] })).toMatch(
      /^away redis.cluster: the cluster is down \(cluster_state:fail\)/,
    );
  });

  test('Sentinels that know no such master', async () => {
    const sentinel = await startSentinel({ name: 'main', port: Number(plain.port), quorum: 1 });
    try {
      const nodes = [{ host: '127.0.0.1', port: sentinel.port }];
      expect(await faultAt({ sentinel: { name: 'other', nodes } })).toBe(
        'misconfigured redis.sentinel.name: the Sentinels know no master "other"',
      );
      expect(await faultAt({ sentinel: { name: 'main', nodes } })).toBe('none');
    } finally {
      await sentinel.stop();
    }
  });

  test('each right that is missing', async () => {
    for (const command of neededCommands()) {
      await admin.acl('SETUSER', 'less', 'reset', 'on', `>${SECRET}`, ...aclRules(), `-${command}`);
      const fault = await faultAt({ url: String(plain.url), username: 'less', password: SECRET });
      expect(fault, command).toMatch(/^misconfigured redis.username: user "less" may not run /);
      expect(fault, command).toContain(command);
    }
  });

  test('keys and channels that are closed', async () => {
    await admin.acl('SETUSER', 'less', 'reset', 'on', `>${SECRET}`, ...aclRules('shop:'));
    const login = { username: 'less', password: SECRET };
    expect(await faultAt({ url: String(plain.url), ...login, keyPrefix: 'shop:' })).toBe('none');
    expect(await faultAt({ url: String(plain.url), ...login })).toBe(
      'misconfigured redis.username: user "less" may not use keys hg:* and {hg:* and may not use channels hg:* and {hg:*',
    );
  });
});

test('what cannot be used is refused with one line; what does not answer is not', async () => {
  await expect(refuseUnusable({ url: old.url }, WITHIN_MS)).rejects.toThrow(
    /^redis: version 6\.2\.14 has no functions; use Redis 7\.0 or later, or Valkey$/,
  );
  await expect(refuseUnusable({ socketPath: join(plain.dir, 'none.sock') }, WITHIN_MS)).resolves.toBeUndefined();
});

test('asking writes no key', async () => {
  expect(await admin.dbsize()).toBe(0);
});
