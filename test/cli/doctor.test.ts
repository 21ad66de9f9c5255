import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { redisFindings } from '../../src/cli/doctor/redis-findings.js';
import { HeadgateFolder, type Outcome } from '../support/headgate-process.js';
import { startRedis, type TestRedis } from '../support/redis-server.js';

const KEYS = { admin: { keys: ['admin-key-of-this-test'] }, tenants: { acme: { key: 'tenant-key-of-this-test' } } };
const LIMITS = { highWater: 0.9, highWaterBytes: Infinity, allowEviction: false };

describe('what is said of a Redis', () => {
  const FACTS = { version: '7.0.15', memory: 'used_memory:50\r\nmaxmemory:0\r\n', appendOnly: true };
  it.each([
    ['nothing but its version, where all is well', {}, ['ok version 7.0.15 answers']],
    [
      'that it evicts',
      { memory: 'maxmemory_policy:allkeys-lru\r\n' },
      ['ok version 7.0.15 answers', 'fault it may throw away accepted jobs: maxmemory-policy is allkeys-lru'],
    ],
    [
      'that it is full',
      { memory: 'used_memory:95\r\nmaxmemory:100\r\n' },
      ['ok version 7.0.15 answers', 'fault 95 bytes are used, above the mark of 90: no job is admitted'],
    ],
    [
      'that it keeps nothing',
      { appendOnly: false },
      ['ok version 7.0.15 answers', 'warning it writes no append-only file: jobs are lost when it ends'],
    ],
  ])('%s', (_, change, told) => {
    const findings = redisFindings({ ...FACTS, ...change }, LIMITS);
    expect(findings.map(({ level, says }) => `${level} ${says}`)).toEqual(told);
    expect(findings.filter(({ level, mend }) => level !== 'ok' && mend === undefined)).toEqual([]);
  });
});

describe('headgate doctor', () => {
  let redis: TestRedis;
  const folders: HeadgateFolder[] = [];
  beforeAll(async () => {
    redis = await startRedis({ port: true });
  });
  afterAll(async () => {
    for (const folder of folders) await folder.remove();
    await redis?.stop();
  });
  async function examined(config: object | string, flags: string[] = []): Promise<Outcome> {
    const folder = await HeadgateFolder.create(config);
    folders.push(folder);
    return folder.run('doctor', flags);
  }

  test('finds no fault where there is none', async () => {
    const outcome = await examined({ ...KEYS, redis: redis.url, types: { a: { handler: 'echo' } } });
    expect(outcome.stderr).toBe('');
    expect(outcome.stdout).toMatch(/^ok +redis +version 7/m);
    expect(outcome.stdout).not.toContain('fault');
    expect(outcome.code).toBe(0);
  });

  test('names each fault, and how to mend it, with code 1', async () => {
    const config = { ...KEYS, redis: 'redis://127.0.0.1:1', types: { a: { handler: './gone.ts' }, b: {} } };
    const outcome = await examined(config, ['--json', '--url', 'http://127.0.0.1:1', '--key', 'k']);
    const { healthy, findings } = JSON.parse(outcome.stdout);
    expect([outcome.code, healthy]).toEqual([1, false]);
    const faults = findings.filter((each: { level: string }) => each.level !== 'ok');
    expect(faults).toEqual([
      expect.objectContaining({ about: 'handlers', level: 'fault', says: expect.stringMatching(/^a: .*gone\.ts$/) }),
      expect.objectContaining({ about: 'handlers', level: 'warning', says: 'b has none: its jobs wait' }),
      expect.objectContaining({ about: 'redis', level: 'fault', says: expect.stringContaining('ECONNREFUSED') }),
      expect.objectContaining({ about: 'api', level: 'fault', says: expect.stringMatching(/^network_error/) }),
    ]);
    for (const { mend } of faults) expect(mend).toMatch(/\w/);
  });

  test('tells the faults of a configuration', async () => {
    const wrong = 'types: { a: { handler: echo, timeout: 60 } }\n';
    const outcome = await examined(wrong);
    expect([outcome.code, outcome.stdout]).toMatchObject([
      1,
      expect.stringMatching(/fault +config +line 1:\d+ types\.a\.timeout: /),
    ]);
  });
});

describe('headgate config check', () => {
  it('says whether the configuration can be used, by words, JSON and code', async () => {
    const folder = await HeadgateFolder.create({ types: { a: { handler: 'echo' } } });
    try {
      const flags = ['config', 'check', '--config', folder.configFile];
      const good = await folder.runBare(flags);
      expect(good).toMatchObject({ code: 0, stdout: `${folder.configFile} can be used\n`, stderr: '' });
      await writeFile(join(folder.dir, 'headgate.yaml'), 'types: {}\ntiers: { free: { rate: 0 } }\n');
      const paused = await folder.runBare(flags);
      expect(paused.code).toBe(0);
      expect(paused.stdout).toContain('warning: a rate of 0 means paused: nothing starts by tiers.free.rate\n');
      await writeFile(join(folder.dir, 'headgate.yaml'), 'types: {}\ntiers: { free: { wieght: 1 } }\n');
      const bad = await folder.runBare(flags);
      expect([bad.code, bad.stdout, bad.stderr]).toMatchObject([2, '', expect.stringContaining('tiers.free.wieght')]);
      const json = await folder.runBare([...flags, '--json']);
      expect([json.code, JSON.parse(json.stdout)]).toMatchObject([
        2,
        { usable: false, problems: [{ path: 'tiers.free.wieght', line: 2 }] },
      ]);
    } finally {
      await folder.remove();
    }
  });

  it('names the option of a built-in handler that is wrong, and warns of a variable that is not set', async () => {
    const url = 'https://example.com';
    const up = (options: object) => ({ types: { up: { handler: 'http', options } } });
    const folder = await HeadgateFolder.create(up({ url, headers: { authorization: 'Bearer env:SET_NOWHERE' } }));
    try {
      const flags = ['config', 'check', '--config', folder.configFile, '--json'];
      const good = await folder.runBare(flags);
      expect([good.code, JSON.parse(good.stdout)]).toMatchObject([
        0,
        { usable: true, warnings: [expect.stringContaining('types.up.options.headers.authorization')] },
      ]);
      await folder.configure(up({ url, busyScope: 'all' }));
      const bad = await folder.runBare(flags);
      expect([bad.code, JSON.parse(bad.stdout)]).toMatchObject([
        2,
        {
          usable: false,
          problems: [
            { path: 'types.up.options.busyScope', message: 'expected bucket or type', line: expect.any(Number) },
          ],
        },
      ]);
    } finally {
      await folder.remove();
    }
  });
});
