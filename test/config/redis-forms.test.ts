import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadConfig } from '../../src/config/load-config.js';

/** Secrets that no message may repeat. */
const SECRETS = ['hunter2', 'from-the-environment', 'from-a-file'];

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'hg-redis-forms-'));
  for (const name of ['one', 'other']) {
    execFileSync(
      'openssl',
      [
        ...['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', `/CN=${name}`],
        ...['-keyout', join(folder, `${name}.key`), '-out', join(folder, `${name}.pem`)],
      ],
      { stdio: 'ignore' },
    );
  }
  writeFileSync(join(folder, 'password'), 'from-a-file\n');
  writeFileSync(join(folder, 'empty'), '\n');
  writeFileSync(join(folder, 'two-lines'), 'from-a-file\nhunter2\n');
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function redisFrom(redis: unknown): Promise<unknown> {
  writeFileSync(join(folder, 'headgate.yaml'), JSON.stringify({ redis, types: {} }));
  const env = { REDIS_PASSWORD: 'from-the-environment', REDIS_PLACE: 'rediss://redis.example:6380' };
  return (await loadConfig({ env, cwd: folder })).redis;
}

describe('redis', () => {
  test.each<[string, unknown, object]>([
    ['an address alone', 'redis://h', { kind: 'server', url: 'redis://h' }],
    ['an address in a mapping', { url: './r.sock' }, { kind: 'server', url: 'FOLDER/r.sock' }],
    [
      'a user and a password',
      { url: 'redis://h', username: 'u', password: 'hunter2' },
      { kind: 'server', url: 'redis://h', username: 'u', password: 'hunter2' },
    ],
    [
      'a password from the environment, and the address too',
      { url: 'env:REDIS_PLACE', password: 'env:REDIS_PASSWORD' },
      { kind: 'server', url: 'rediss://redis.example:6380', password: 'from-the-environment' },
    ],
    [
      'a password from a file',
      { url: 'redis://h', username: 'u', passwordFile: './password' },
      { kind: 'server', url: 'redis://h', username: 'u', password: 'from-a-file' },
    ],
    [
      'a name that the certificate has to have',
      { url: 'rediss://10.0.0.1', tls: { serverName: 'redis.example' } },
      { kind: 'server', url: 'rediss://10.0.0.1', tls: { serverName: 'redis.example' } },
    ],
    [
      'a prefix and replicas to wait for',
      { url: 'redis://h', keyPrefix: 'shop:', waitForReplicas: 1 },
      { kind: 'server', url: 'redis://h', keyPrefix: 'shop:', waitForReplicas: 1 },
    ],
    [
      'Sentinels',
      {
        sentinel: { name: 'main', nodes: ['s1:26379', '[::1]:26380'], db: 2, password: 'hunter2' },
        passwordFile: 'password',
      },
      {
        kind: 'sentinel',
        sentinel: {
          name: 'main',
          nodes: [
            { host: 's1', port: 26_379 },
            { host: '::1', port: 26_380 },
          ],
          db: 2,
          password: 'hunter2',
        },
        password: 'from-a-file',
      },
    ],
    [
      'a cluster',
      { cluster: ['a:7000', 'b:7001'], tls: {} },
      {
        kind: 'cluster',
        nodes: [
          { host: 'a', port: 7000 },
          { host: 'b', port: 7001 },
        ],
        tls: {},
      },
    ],
  ])('may be %s', async (_, redis, expected) => {
    const placed = JSON.parse(JSON.stringify(expected).replaceAll('FOLDER', folder));
    expect(await redisFrom(redis)).toEqual(placed);
  });

  test('has the text of its certificates and key', async () => {
    const redis = await redisFrom({ url: 'rediss://h', tls: { ca: 'other.pem', cert: './one.pem', key: 'one.key' } });
    const pem = (what: string) => expect.stringMatching(new RegExp(`^-----BEGIN ${what}-----`));
    expect(redis).toMatchObject({ tls: { ca: pem('CERTIFICATE'), cert: pem('CERTIFICATE'), key: pem('PRIVATE KEY') } });
  });

  test.each([
    ['16 on a cluster', { redis: { cluster: ['h:7000'] } }, 16],
    ['1 on a server', { redis: 'redis://h' }, 1],
    ['what is stated', { redis: { cluster: ['h:7000'] }, shards: 3 }, 3],
  ])('spreads types over so many shards: %s', async (_, config, shards) => {
    writeFileSync(join(folder, 'headgate.yaml'), JSON.stringify({ ...config, types: { ocr: {} } }));
    expect((await loadConfig({ env: {}, cwd: folder })).shards).toBe(shards);
  });

  test.each<[string, unknown, string]>([
    ['a prefix with braces', { url: 'redis://h', keyPrefix: '{shop}' }, 'redis.keyPrefix: a key prefix has no braces'],
    ['a prefix with blanks', { url: 'redis://h', keyPrefix: 'my shop' }, 'redis.keyPrefix: expected 1 to 64 letters'],
    [
      'a password twice',
      { url: 'redis://h', password: 'hunter2', passwordFile: 'password' },
      'redis.password: say password or passwordFile, not both',
    ],
    [
      'a password in the URL too',
      { url: 'redis://:hunter2@h', password: 'hunter2' },
      'redis.password: the URL has a password too; say it once',
    ],
    [
      'a user without a password',
      { url: 'redis://h', username: 'u' },
      'redis.username: a user needs a password, or passwordFile',
    ],
    [
      'no such file',
      { url: 'redis://h', passwordFile: 'nowhere' },
      'redis.passwordFile: FOLDER/nowhere cannot be read: there is no such file',
    ],
    [
      'an empty file',
      { url: 'redis://h', passwordFile: 'empty' },
      'redis.passwordFile: FOLDER/empty is empty; expected a password',
    ],
    [
      'a file of two lines',
      { url: 'redis://h', passwordFile: 'two-lines' },
      'redis.passwordFile: FOLDER/two-lines has more than one line',
    ],
    [
      'a variable that is not set',
      { url: 'redis://h', password: 'env:NOWHERE' },
      'redis.password: the environment variable NOWHERE is not set',
    ],
    ['TLS on a plain address', { url: 'redis://h', tls: {} }, 'redis.tls: redis:// is without TLS; say rediss://'],
    ['TLS on a socket', { url: '/run/r.sock', tls: {} }, 'redis.tls: a unix socket has no TLS'],
    [
      'a certificate without its key',
      { url: 'rediss://h', tls: { cert: 'one.pem' } },
      'redis.tls.cert: cert and key go together',
    ],
    [
      'the key of another',
      { url: 'rediss://h', tls: { cert: 'one.pem', key: 'other.key' } },
      'redis.tls.key: this is not the key of cert',
    ],
    [
      'a key in place of a certificate',
      { url: 'rediss://h', tls: { ca: 'one.key' } },
      'redis.tls.ca: FOLDER/one.key holds no certificate (PEM)',
    ],
    ['no Sentinel', { sentinel: { name: 'main', nodes: [] } }, 'redis.sentinel.nodes: expected at least one'],
    ['Sentinels without a name', { sentinel: { nodes: ['h:1'] } }, 'redis.sentinel.name: required'],
    [
      'a Sentinel without a port',
      { sentinel: { name: 'main', nodes: ['h'] } },
      'redis.sentinel.nodes[0]: expected HOST:PORT',
    ],
    [
      'a node that is a URL with a password',
      { cluster: ['redis://:hunter2@h:1'] },
      'redis.cluster[0]: expected HOST:PORT',
    ],
    ['a cluster of no nodes', { cluster: [] }, 'redis.cluster: expected at least one node'],
    ['embedded in a mapping', { url: 'embedded' }, 'redis.url: expected redis://HOST'],
    ['two forms at once', { url: 'redis://h', cluster: ['h:1'] }, 'redis.cluster: unknown field'],
    [
      'no replica',
      { url: 'redis://h', waitForReplicas: 0 },
      'redis.waitForReplicas: expected a whole number from 1 to 10',
    ],
    ['a password in a list', ['hunter2'], 'redis: expected embedded'],
  ])('may not be %s', async (_, redis, message) => {
    const error: unknown = await redisFrom(redis).catch((thrown: unknown) => thrown);
    expect(String(error)).toContain(message.replaceAll('FOLDER', folder));
    for (const secret of SECRETS) expect(String(error)).not.toContain(secret);
  });
});
