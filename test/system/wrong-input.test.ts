import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HeadgateFolder, type Outcome } from '../support/headgate-process.js';
import { startRedis, type TestRedis } from '../support/redis-server.js';
import { REFEREE_HANDLER } from './support/refereed-system.js';

/** Keys of its own, so that nothing is made at start. */
const KEYS = { admin: { keys: ['admin-key-of-this-test'] }, tenants: { acme: { key: 'tenant-key-of-this-test' } } };
const GOOD = { ...KEYS, types: { a: { handler: 'echo' }, remote: {} } };
const COMMANDS = ['start', 'serve', 'work', 'stop'];

let folder: HeadgateFolder;
beforeAll(async () => {
  folder = await HeadgateFolder.create(GOOD);
}, 120_000);
afterAll(async () => folder?.remove());

/** What it told a person: its errors without the lines of its log. */
function told({ stderr }: Outcome): string[] {
  return stderr.split('\n').filter((line) => line !== '' && !line.startsWith('{'));
}

describe('wrong input on the command line', () => {
  it.each([
    ['an unknown option', ['serve', '--prot', '80'], /unknown option '--prot'/],
    ['an unknown command', ['sevre'], /unknown command 'sevre'/],
    ['no slots at all', ['work', '--concurrency', 'ocr=0'], /expected type=slots such as ocr=2,chat=8.*got "ocr=0"/],
    ['slots that are no number', ['start', '--concurrency', 'ocr=many'], /expected type=slots .*got "ocr=many"/],
    ['an option without its value', ['start', '--listen'], /--listen <host:port>' argument missing/],
  ])('%s is told, with code 2', async (_, args, message) => {
    const outcome = await folder.runBare(args);
    expect(outcome).toMatchObject({ code: 2, stdout: '' });
    expect(outcome.stderr).toMatch(message);
    expect(outcome.stderr).not.toContain('    at ');
  });

  it.each([
    ['a type that is not configured', ['--types', 'b'], /type "b" is not configured; there are: a, remote/],
    ['slots of a type that is not configured', ['--concurrency', 'b=1'], /type "b" is not configured/],
    ['a type without a handler', ['--types', 'remote'], /type "remote" has no handler: set types\.remote\.handler/],
  ])('%s is told by a worker in one line, with code 2', async (_, flags, message) => {
    const outcome = await folder.run('work', flags);
    expect(outcome.code).toBe(2);
    expect(told(outcome)).toEqual([expect.stringMatching(message)]);
  });

  it.each(['--help', ...COMMANDS.map((name) => `${name} --help`)])('%s shows help, with code 0', async (line) => {
    const args = line.split(' ');
    const outcome = await folder.runBare(args);
    expect(outcome).toMatchObject({ code: 0, stderr: '' });
    expect(outcome.stdout).toMatch(/^Usage: headgate/);
    if (args.length === 1) for (const name of COMMANDS) expect(outcome.stdout).toContain(`\n  ${name} `);
    else expect(outcome.stdout).toContain('--config <file>');
  });
});

describe('a wrong configuration', () => {
  it('is told with every fault, each with its place, and code 2', async () => {
    const wrong = await HeadgateFolder.create(
      ['types:', '  a:', '    handler: echo', '    timeout: 60', 'tiers:', '  free: { wieght: 1 }', ''].join('\n'),
    );
    try {
      for (const verb of ['serve', 'work', 'stop']) {
        const outcome = await wrong.run(verb);
        expect(outcome).toMatchObject({ code: 2, stdout: '' });
        expect(outcome.stderr).toMatch(/headgate\.yaml:4:14 types\.a\.timeout: expected a duration .*; got 60/);
        expect(outcome.stderr).toMatch(
          /headgate\.yaml:6:\d+ tiers\.free\.wieght: unknown field; did you mean "weight"\?/,
        );
      }
    } finally {
      await wrong.remove();
    }
  }, 120_000);

  it('that is not there is told, with code 2', async () => {
    const outcome = await folder.runBare(['serve', '--config', join(folder.dir, 'none.yaml')]);
    expect(outcome.code).toBe(2);
    expect(outcome.stderr).toContain('none.yaml');
    expect(outcome.stderr).not.toContain('    at ');
  });
});

describe('a handler that cannot be used', () => {
  it.each([
    ['is missing', undefined, /there is no such file/],
    ['throws while it is loaded', "throw new Error('no model here');", /failed while loading: no model here/],
    ['exports no handler', 'export default { rum() {} };', /unknown `rum`/],
  ])('and %s ends the whole start with one line and code 2', async (_, text, message) => {
    const broken = await HeadgateFolder.create({ ...KEYS, types: { a: { handler: './handler.ts' } } });
    try {
      if (text !== undefined) await writeFile(join(broken.dir, 'handler.ts'), text);
      const outcome = await broken.run('start', ['--listen', '127.0.0.1:0']);
      expect(outcome.code).toBe(2);
      expect(outcome.stdout).toBe('');
      const [line, ...more] = told(outcome);
      expect(line).toMatch(/^headgate: handler .*handler\.ts: /);
      expect(line).toMatch(message);
      expect(more).toEqual([]);
      // Nothing is left half-done: the Redis that was started for it has ended with it.
      expect((await broken.run('stop')).stdout).toMatch(/^Redis was not running/);
    } finally {
      await broken.remove();
    }
  });
});

describe('a Redis that evicts', () => {
  let redis: TestRedis;
  let evicting: HeadgateFolder;
  beforeAll(async () => {
    redis = await startRedis({ args: ['--maxmemory-policy', 'allkeys-lru'] });
    const handler = REFEREE_HANDLER;
    evicting = await HeadgateFolder.create({ ...KEYS, redis: redis.socketPath, types: { a: { handler } } });
  });
  afterAll(async () => {
    await evicting?.remove();
    await redis?.stop();
  });

  it.each(['serve', 'work'])('is refused by `%s` in one line that says what to do, with code 2', async (verb) => {
    const outcome = await evicting.run(verb, verb === 'serve' ? ['--listen', '127.0.0.1:0'] : []);
    expect(outcome).toMatchObject({ code: 2, stdout: '' });
    expect(told(outcome)).toEqual([
      expect.stringMatching(/^headgate: This Redis evicts \(maxmemory-policy allkeys-lru\).*--allow-eviction/),
    ]);
  });

  it('is used when told to', async () => {
    const api = await evicting.start('serve', ['--allow-eviction']);
    expect((await fetch(`${api.url}/readyz`)).status).toBe(200);
    await api.stop();
  });
});

describe('an address to listen on', () => {
  let occupant: Server;
  let port: number;
  beforeAll(async () => {
    occupant = createServer().listen(0, '127.0.0.1');
    await once(occupant, 'listening');
    const address = occupant.address();
    port = typeof address === 'object' && address !== null ? address.port : 0;
  });
  afterAll(() => {
    occupant?.close();
  });

  it('that is taken is told in one line, with code 1', async () => {
    const outcome = await folder.run('serve', ['--listen', `127.0.0.1:${port}`]);
    expect(outcome).toMatchObject({ code: 1, stdout: '' });
    expect(told(outcome)).toEqual([expect.stringMatching(new RegExp(`^headgate: .*in use.*127\\.0\\.0\\.1:${port}`))]);
    expect((await folder.run('stop')).stdout).toMatch(/^Redis was not running/);
  });

  it.each([
    ['admin.keys', { types: { a: {} }, tenants: KEYS.tenants }],
    ['a key for at least one tenant', { types: { a: {} }, admin: KEYS.admin }],
  ])('that others can reach is refused without %s', async (missing, config) => {
    const open = await HeadgateFolder.create(config);
    try {
      const outcome = await open.run('serve', ['--listen', '0.0.0.0:0']);
      expect(outcome).toMatchObject({ code: 2, stdout: '' });
      expect(told(outcome)).toEqual([expect.stringContaining(`state ${missing} in the configuration`)]);
    } finally {
      await open.remove();
    }
  });
});
