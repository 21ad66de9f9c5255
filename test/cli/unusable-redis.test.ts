import type { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeCertificates, type TestCertificates } from '../support/certificates.js';
import { HeadgateFolder, type Outcome } from '../support/headgate-process.js';
import { startRedis, type TestRedis, tlsArguments } from '../support/redis-server.js';
import { freePort } from '../system/support/free-port.js';

const SECRET = 'hunter2-is-a-secret';
const KEYS = { admin: { keys: ['admin-key-of-this-test'] }, tenants: { acme: { key: 'tenant-key-of-this-test' } } };
const BASE = { ...KEYS, listen: '127.0.0.1:0', types: { a: { handler: 'echo' } } };

const servers: TestRedis[] = [];
const folders: HeadgateFolder[] = [];
let certificates: TestCertificates;

afterAll(async () => {
  for (const folder of folders) await folder.remove();
  for (const server of servers) await server.stop();
  certificates?.remove();
});

async function server(args: readonly string[] = []): Promise<TestRedis> {
  const started = await startRedis({ port: true, args });
  servers.push(started);
  return started;
}

async function folderWith(config: object): Promise<HeadgateFolder> {
  const folder = await HeadgateFolder.create({ ...BASE, ...config });
  folders.push(folder);
  return folder;
}

const linesWith = (text: string, says: string) => text.split('\n').filter((line) => line.includes(says));

describe('a Redis that cannot be used', () => {
  let master: TestRedis;
  let replica: TestRedis;
  let tlsPort: number;

  beforeAll(async () => {
    certificates = makeCertificates('redis.example');
    tlsPort = await freePort();
    master = await server(['--tls-port', String(tlsPort), ...tlsArguments(certificates), '--tls-replication', 'no']);
    replica = await server(['--replicaof', '127.0.0.1', String(master.port)]);
    await master.client().acl('SETUSER', 'app', 'on', `>${SECRET}`, '~*', '&*', '+@all', '-fcall');
  });

  async function told(verb: 'serve' | 'work' | 'start' | 'doctor', redis: unknown): Promise<Outcome> {
    const outcome = await (await folderWith({ redis })).run(verb);
    expect(outcome.stdout + outcome.stderr).not.toContain(SECRET);
    return outcome;
  }

  const cases: [title: string, redis: () => unknown, says: string][] = [
    [
      'an unknown user',
      () => ({ url: master.url, username: 'nobody', password: SECRET }),
      'redis.password: the server does not know user "nobody" with this password',
    ],
    [
      'a wrong password',
      () => ({ url: master.url, username: 'app', password: `${SECRET}-not` }),
      'redis.password: the server does not know user "app" with this password',
    ],
    [
      'a right that is missing',
      () => ({ url: master.url, username: 'app', password: SECRET }),
      'redis.username: user "app" may not run fcall',
    ],
    ['a replica as the master', () => ({ url: replica.url }), 'redis: it is a replica, which takes no writes'],
    [
      'TLS on a plain port',
      () => ({ url: String(master.url).replace('redis:', 'rediss:') }),
      'redis: the port does not speak TLS',
    ],
    [
      'a certificate for another name',
      () => ({ url: `rediss://127.0.0.1:${tlsPort}`, tls: { ca: certificates.ca } }),
      'redis.tls.serverName: the certificate is for another name',
    ],
    [
      'a key prefix with braces',
      () => ({ url: master.url, keyPrefix: '{a}' }),
      'redis.keyPrefix: a key prefix has no braces',
    ],
  ];

  test.each(cases)(
    'ends an API and the workers with one line, and the doctor tells the same: %s',
    async (_, redis, says) => {
      for (const verb of ['serve', 'work'] as const) {
        const { code, stderr } = await told(verb, redis());
        expect(linesWith(stderr, says), stderr).toHaveLength(1);
        expect(code, verb).toBe(2);
      }
      const { code, stdout } = await told('doctor', redis());
      expect(stdout).toContain(says);
      expect(code).toBe(1);
      expect(await master.client().dbsize()).toBe(0);
    },
  );
});

/** All that a server holds, by key. */
async function everything(redis: Redis): Promise<Record<string, string>> {
  const keys = (await redis.keys('*')).toSorted();
  const dumps = await Promise.all(
    keys.map(async (key) => String(await redis.dumpBuffer(key).then((dump) => dump?.toString('hex')))),
  );
  return Object.fromEntries(keys.map((key, i) => [key, dumps[i] ?? '']));
}

test('another number of shards than the data has ends an API and the workers with one line, and nothing is written', async () => {
  const redis = await server();
  const first = await (await folderWith({ redis: redis.url, shards: 3 })).start('serve');
  await first.stop();
  const before = await everything(redis.client());
  expect(Object.keys(before).length).toBeGreaterThan(0);
  for (const verb of ['serve', 'work'] as const) {
    const { code, stderr } = await (await folderWith({ redis: redis.url, shards: 2 })).run(verb);
    expect(linesWith(stderr, 'is spread over 3 shards, and the configuration says shards: 2'), stderr).toHaveLength(1);
    expect(code, verb).toBe(2);
  }
  expect(await everything(redis.client())).toEqual(before);
});

test('a cluster that is down is waited for: an API and the workers say so in one line, and nothing is written', async () => {
  const busPort = String(await freePort());
  const where = ['--cluster-announce-ip', '127.0.0.1', '--cluster-port', busPort];
  const node = await server(['--cluster-enabled', 'yes', ...where]);
  await node.client().cluster('ADDSLOTSRANGE', 0, 10_000);
  const folder = await folderWith({ redis: { cluster: [`127.0.0.1:${node.port}`] }, listen: undefined });
  for (const verb of ['serve', 'work'] as const) {
    const started = folder.spawn(verb);
    await started.until(() => started.said('redis is away; trying again').length > 0, 'it said that Redis is away');
    if (verb === 'serve') {
      await started.untilReady();
      const headers = { authorization: 'Bearer tenant-key-of-this-test', 'content-type': 'application/json' };
      const body = JSON.stringify({ type: 'a', data: {} });
      const answer = await fetch(`${started.url}/v1/jobs`, { method: 'POST', headers, body });
      expect(answer.status).toBe(503);
      await answer.arrayBuffer();
    }
    await started.kill();
    const said = started.said('redis is away; trying again');
    expect(said.map(({ detail }) => String(detail))).toEqual([
      'the cluster is down (cluster_state:fail): some slots have no master',
    ]);
  }
  const { code, stdout } = await folder.run('doctor');
  expect(stdout).toContain('the cluster is down (cluster_state:fail)');
  expect(code).toBe(1);
  expect(await node.client().dbsize()).toBe(0);
});
