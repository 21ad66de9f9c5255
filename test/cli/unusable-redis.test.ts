import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { HeadgateFolder, type Outcome } from '../support/headgate-process.js';
import { startRedis, type TestRedis } from '../support/redis-server.js';

const SECRET = 'hunter2-is-a-secret';
const KEYS = { admin: { keys: ['admin-key-of-this-test'] }, tenants: { acme: { key: 'tenant-key-of-this-test' } } };
const BASE = { ...KEYS, listen: '127.0.0.1:0', types: { a: { handler: 'echo' } } };

describe('a Redis that cannot be used', () => {
  let master: TestRedis;
  let replica: TestRedis;
  const folders: HeadgateFolder[] = [];

  beforeAll(async () => {
    master = await startRedis({ port: true });
    replica = await startRedis({ port: true, args: ['--replicaof', '127.0.0.1', String(master.port)] });
    await master.client().acl('SETUSER', 'app', 'on', `>${SECRET}`, '~*', '&*', '+@all', '-fcall');
  });

  afterAll(async () => {
    for (const folder of folders) await folder.remove();
    await replica?.stop();
    await master?.stop();
  });

  async function told(verb: 'serve' | 'work' | 'start' | 'doctor', redis: unknown): Promise<Outcome> {
    const folder = await HeadgateFolder.create({ ...BASE, redis });
    folders.push(folder);
    const outcome = await folder.run(verb);
    expect(outcome.stdout + outcome.stderr).not.toContain(SECRET);
    return outcome;
  }

  const cases = (): [unknown, string][] => [
    [
      { url: master.url, username: 'nobody', password: SECRET },
      'redis.password: the server does not know user "nobody" with this password',
    ],
    [{ url: master.url, username: 'app', password: SECRET }, 'redis.username: user "app" may not run fcall'],
    [{ url: replica.url }, 'redis: it is a replica, which takes no writes'],
    [{ url: String(master.url).replace('redis:', 'rediss:') }, 'redis: the port does not speak TLS'],
    [{ url: master.url, keyPrefix: '{a}' }, 'redis.keyPrefix: a key prefix has no braces'],
  ];

  test.each([0, 1, 2, 3, 4])(
    'ends an API and the workers with one line, and the doctor tells the same (%i)',
    async (row) => {
      const [redis, says] = cases()[row] ?? [undefined, ''];
      for (const verb of ['serve', 'work'] as const) {
        const { code, stderr } = await told(verb, redis);
        expect(
          stderr.split('\n').filter((line) => line.includes(says)),
          stderr,
        ).toHaveLength(1);
        expect(code, verb).toBe(2);
      }
      const { code, stdout } = await told('doctor', redis);
      expect(stdout).toContain(says);
      expect(code).toBe(1);
      expect(await master.client().dbsize()).toBe(0);
    },
  );
});
