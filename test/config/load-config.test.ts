import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ConfigError } from '../../src/config/config.js';
import { loadConfig } from '../../src/config/load-config.js';
import { folderWith, loadText, problemsOfLoading } from './loading.js';

const ROOT = join(import.meta.dirname, '../..');
const ECHO = join(ROOT, 'workers/handlers/echo.ts');
const KEY = 'a-key-of-24-characters-x';
const HOOK_SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

describe('which file is read', () => {
  test('without any, the one that comes with Headgate; data goes to the current folder', async () => {
    const cwd = await folderWith({});
    const config = await loadConfig({ env: {}, cwd });
    expect(config.file).toBeNull();
    expect(config.dataDir).toBe(join(cwd, '.headgate'));
    expect(config.types.get('echo')?.handler).toBe(ECHO);
  });

  test('headgate.yaml of the current folder', async () => {
    const cwd = await folderWith({ 'headgate.yaml': 'types: { own: {} }' });
    const config = await loadConfig({ env: {}, cwd });
    expect(config.file).toBe(join(cwd, 'headgate.yaml'));
    expect([...config.types.keys()]).toEqual(['own']);
  });

  test('the one that HEADGATE_CONFIG names goes before it, and the one of the command line before that', async () => {
    const cwd = await folderWith({
      'headgate.yaml': 'types: {}',
      'b.yaml': 'types: { b: {} }',
      'c.yaml': 'types: { c: {} }',
    });
    const env = { HEADGATE_CONFIG: 'b.yaml' };
    expect((await loadConfig({ env, cwd })).file).toBe(join(cwd, 'b.yaml'));
    expect((await loadConfig({ env, cwd, file: './c.yaml' })).file).toBe(join(cwd, 'c.yaml'));
    expect((await loadConfig({ env: { HEADGATE_CONFIG: '' }, cwd })).file).toBe(join(cwd, 'headgate.yaml'));
  });

  test('one that is not there is told', async () => {
    const cwd = await folderWith({});
    expect(await problemsOfLoading({ env: {}, cwd, file: 'no.yaml' })).toEqual([
      ': ./no.yaml cannot be read: there is no such file',
    ]);
    expect(await problemsOfLoading({ env: {}, cwd, file: '.' })).toEqual([': . cannot be read: it is a folder']);
  });

  test('paths and data are from the folder of the file, not from the current one', async () => {
    const cwd = await folderWith({});
    const etc = join(cwd, 'etc');
    await mkdir(etc);
    await writeFile(join(etc, 'hg.yaml'), 'redis: ./r.sock\ntypes: { x: { handler: ../h.ts, schema: s.json } }');
    await writeFile(join(etc, 's.json'), '{"type":"object"}');
    const config = await loadConfig({ env: {}, cwd, file: 'etc/hg.yaml' });
    expect(config.redis).toEqual({ kind: 'server', url: join(etc, 'r.sock') });
    expect(config.types.get('x')?.handler).toBe(join(cwd, 'h.ts'));
    expect(config.types.get('x')?.dataSchema).toEqual({ type: 'object' });
    expect(config.dataDir).toBe(join(etc, '.headgate'));
  });
});

describe('what comes with Headgate', () => {
  test('works when it is copied: the same configuration, with the same handler', async () => {
    const text = await readFile(join(ROOT, 'headgate.yaml'), 'utf8');
    const copied = await loadText(text);
    const shipped = await loadConfig({ env: {}, cwd: await folderWith({}) });
    expect({ ...copied, file: null, dataDir: '' }).toEqual({ ...shipped, dataDir: '' });
  });

  test('is an echo on loopback, with the tiers free and pro', async () => {
    const config = await loadConfig({ env: {}, cwd: await folderWith({}) });
    expect(config.redis).toEqual({ kind: 'embedded' });
    expect(config.listen).toEqual({ host: '127.0.0.1', port: 8080 });
    expect(config.defaultTier).toBe('free');
    expect(config.tiers.get('free')?.stated).toEqual({
      ratePerSecond: 1,
      burst: 1,
      depth: 50,
      weight: 1,
      concurrency: 1,
      maxWaitMs: 300_000,
    });
    expect(config.tiers.get('pro')?.stated).toEqual({
      ratePerSecond: 10,
      burst: 5,
      jobRatePerSecond: 1,
      depth: 1000,
      maxBytes: 67_108_864,
      weight: 4,
      concurrency: 4,
    });
  });

  test('has examples that are right too, once the marks are taken away', async () => {
    const text = await readFile(join(ROOT, 'headgate.yaml'), 'utf8');
    const examples = text.replace(
      /^( *)# (?=(admin|tenants|ocr|policies|routes|gateways|workers|trustProxy):| {2})/gm,
      '$1',
    );
    const cwd = await folderWith({ 'headgate.yaml': examples });
    await mkdir(join(cwd, 'schemas'));
    await writeFile(join(cwd, 'schemas/ocr.json'), '{}');
    const config = await loadConfig({
      env: { ACME_KEY: KEY, OPERATOR_KEY: `${KEY}2`, GATEWAY_KEY: `${KEY}3`, WORKER_KEY: `${KEY}4` },
      cwd,
    });
    expect([...config.types.keys()]).toEqual(['echo', 'ocr']);
    expect(config.types.get('ocr')?.handler).toBe(join(cwd, 'handlers/ocr.ts'));
    expect(config.tenants.get('acme')?.keys).toEqual([KEY]);
    expect(config.admin.keys).toEqual([`${KEY}2`]);
    expect(config.gateways.keys).toEqual([`${KEY}3`]);
    expect(config.workers.keys).toEqual([{ key: `${KEY}4`, types: null }]);
    expect(config.trustProxy).toEqual(['127.0.0.0/8', '::1/128']);
    expect([...config.policies.keys()]).toEqual(['api']);
    expect(config.routes).toEqual([{ method: 'POST', path: '/uploads/*', policy: 'api', cost: 10 }]);
  });
});

test('a file that says the least gets the stated defaults', async () => {
  const config = await loadText('types: { x: {} }');
  expect(config).toEqual({
    file: config.file,
    dataDir: config.dataDir,
    redis: { kind: 'embedded' },
    listen: { host: '127.0.0.1', port: 8080 },
    shards: 1,
    durability: 'everysec',
    memory: { highWater: 0.9, highWaterBytes: Infinity, allowEviction: false },
    metrics: { tenants: 50, open: false },
    dashboard: true,
    admin: { keys: [] },
    gateways: { keys: [] },
    forsakenAfterMs: 600_000,
    workers: { keys: [] },
    connections: {
      waits: { perTenant: 1000, total: 10_000 },
      streams: { perTenant: 200, total: 5000 },
      claims: { perKey: 2000, total: 5000 },
    },
    trustProxy: false,
    types: new Map([
      [
        'x',
        {
          name: 'x',
          handler: null,
          mode: 'shape',
          policy: null,
          cost: { kind: 'fixed', cost: 1 },
          dataSchema: null,
          capacity: { ratePerSecond: Infinity, burst: 1, concurrency: Infinity },
          timeoutMs: 60_000,
          attempts: 3,
          backoff: { type: 'exponential', delayMs: 1000, maxMs: 60_000 },
          retry: 'back',
          maxHoldMs: 300_000,
          maxReturns: 10,
          threadMemoryBytes: 512 * 1024 * 1024,
          keepResults: { ageMs: 3_600_000, count: 1000 },
          slackUs: undefined,
          maxPayloadBytes: 1_048_576,
          options: {},
        },
      ],
    ]),
    tiers: new Map([['default', { name: 'default', stated: {}, mode: null, allow: null }]]),
    defaultTier: 'default',
    tenants: new Map(),
    policies: new Map(),
    routes: [],
    webhooks: {
      slots: 50,
      perTenant: 4,
      ratePerSecond: Infinity,
      depth: 10_000,
      maxBytes: 67_108_864,
      timeoutMs: 15_000,
      attempts: 16,
      backoff: { type: 'exponential', delayMs: 5000, maxMs: 43_200_000 },
      allowPrivate: false,
    },
    lockDurationMs: 30_000,
    shutdownGraceMs: 30_000,
    stalledIntervalMs: 30_000,
  });
});

test('a file that says everything is understood', async () => {
  const text = `
redis: rediss://user:p%40ss@redis.example:6380/2
listen: "[::1]:0"
durability: always
lockDuration: 1m
stalledInterval: 5s
shutdownGrace: 0s
admin: { keys: [env:ADMIN, ${KEY}] }
gateways: { keys: [env:GATEWAY] }
trustProxy: [loopback, 10.0.0.0/8, "fd00::1"]
types:
  ocr:
    handler: lib/ocr.mjs
    mode: police
    policy: api
    cost: { from: data.pages, min: 0.5, max: 500, default: 2 }
    schema: ocr.json
    capacity: { rate: 20/s, burst: 20, concurrency: 2 }
    timeout: 90s
    attempts: 1
    backoff: { type: fixed, delay: 5s, max: 5s }
    retry: front
    maxHold: 2s
    maxReturns: 0
    threadMemory: 16MB
    keepResults: { age: 2d, count: 7 }
    slack: 0s
    maxPayload: 512KB
    options: { language: eng, retries: 0x10, deep: [1, { on: true, off: null, text: "5" }] }
  chat: { cost: { request: { min: 1, max: 100 }, default: 10 } }
tiers:
  free: { rate: 1/m, mode: police, allow: [chat] }
defaultTier: free
tenants:
  acme: { tier: free, keys: [env:ACME, env:ACME_OLD], allow: [ocr, chat], rate: unlimited, maxWait: 0s, mode: shape, types: { ocr: { rate: 0, jobRate: 30/m, mode: police }, chat: {} }, webhook: { url: HTTPS://Hooks.example:443/acme#x, events: [failed, expired], secret: env:ACME_HOOK } }
  42: {}
policies:
  api: { rate: 5/s }
routes:
  - { path: /uploads/*, method: POST, policy: api, cost: 2.5 }
  - { path: /*, policy: api }
webhooks: { slots: 5, perTenant: 1, rate: 2/s, depth: 10, maxBytes: 1MB, timeout: 1s, attempts: 3, backoff: { delay: 1s, max: 1m }, allowPrivate: true }
`;
  const cwd = await folderWith({ 'headgate.yaml': text, 'ocr.json': '{"required":["pages"]}' });
  const env = {
    ADMIN: 'admin-key-admin-key',
    GATEWAY: 'gateway-key-gateway',
    ACME: KEY.toUpperCase(),
    ACME_OLD: KEY.toUpperCase(),
    ACME_HOOK: HOOK_SECRET,
  };
  expect(await loadConfig({ env, cwd })).toEqual({
    file: join(cwd, 'headgate.yaml'),
    dataDir: join(cwd, '.headgate'),
    redis: { kind: 'server', url: 'rediss://user:p%40ss@redis.example:6380/2' },
    listen: { host: '::1', port: 0 },
    shards: 1,
    durability: 'always',
    memory: { highWater: 0.9, highWaterBytes: Infinity, allowEviction: false },
    metrics: { tenants: 50, open: false },
    dashboard: true,
    lockDurationMs: 60_000,
    stalledIntervalMs: 5000,
    shutdownGraceMs: 0,
    admin: { keys: ['admin-key-admin-key', KEY] },
    gateways: { keys: ['gateway-key-gateway'] },
    forsakenAfterMs: 600_000,
    workers: { keys: [] },
    connections: {
      waits: { perTenant: 1000, total: 10_000 },
      streams: { perTenant: 200, total: 5000 },
      claims: { perKey: 2000, total: 5000 },
    },
    trustProxy: ['127.0.0.0/8', '::1/128', '10.0.0.0/8', 'fd00::1/128'],
    types: new Map([
      [
        'ocr',
        {
          name: 'ocr',
          handler: join(cwd, 'lib/ocr.mjs'),
          mode: 'police',
          policy: 'api',
          cost: { kind: 'field', from: 'data.pages', min: 0.5, max: 500, default: 2 },
          dataSchema: { required: ['pages'] },
          capacity: { ratePerSecond: 20, burst: 20, concurrency: 2 },
          timeoutMs: 90_000,
          attempts: 1,
          backoff: { type: 'fixed', delayMs: 5000, maxMs: 5000 },
          retry: 'front',
          maxHoldMs: 2000,
          maxReturns: 0,
          threadMemoryBytes: 16 * 1024 * 1024,
          keepResults: { ageMs: 172_800_000, count: 7 },
          slackUs: 0,
          maxPayloadBytes: 524_288,
          options: { language: 'eng', retries: 16, deep: [1, { on: true, off: null, text: '5' }] },
        },
      ],
      ['chat', expect.objectContaining({ cost: { kind: 'request', min: 1, max: 100, default: 10 } })],
    ]),
    tiers: new Map([
      ['free', { name: 'free', stated: { ratePerSecond: 1 / 60 }, mode: 'police', allow: new Set(['chat']) }],
    ]),
    defaultTier: 'free',
    tenants: new Map([
      [
        'acme',
        {
          id: 'acme',
          tier: 'free',
          keys: [KEY.toUpperCase()],
          allow: new Set(['ocr', 'chat']),
          stated: { ratePerSecond: Infinity, maxWaitMs: 0 },
          mode: 'shape',
          types: new Map([
            ['ocr', { ratePerSecond: 0, jobRatePerSecond: 0.5 }],
            ['chat', {}],
          ]),
          typeModes: new Map([['ocr', 'police']]),
          webhook: { url: 'https://hooks.example/acme', events: ['failed', 'expired'], secret: HOOK_SECRET },
        },
      ],
      [
        '42',
        {
          id: '42',
          tier: 'free',
          keys: [],
          allow: null,
          stated: {},
          mode: null,
          types: new Map(),
          typeModes: new Map(),
          webhook: { url: null, events: ['completed', 'failed', 'expired', 'cancelled'], secret: null },
        },
      ],
    ]),
    policies: new Map([['api', expect.objectContaining({ name: 'api' })]]),
    routes: [
      { method: 'POST', path: '/uploads/*', policy: 'api', cost: 2.5 },
      { method: '*', path: '/*', policy: 'api', cost: 1 },
    ],
    webhooks: {
      slots: 5,
      perTenant: 1,
      ratePerSecond: 2,
      depth: 10,
      maxBytes: 1_048_576,
      timeoutMs: 1000,
      attempts: 3,
      backoff: { type: 'exponential', delayMs: 1000, maxMs: 60_000 },
      allowPrivate: true,
    },
  });
});

test('a file with everything that Headgate is for: queues, tiers, tenants and policies', async () => {
  const text = `
redis: embedded
listen: 127.0.0.1:8080
admin: { keys: [env:HEADGATE_ADMIN_KEY] }
durability: everysec
types:
  ocr:
    handler: ./workers/handlers/ocr.ts
    mode: shape
    cost: { from: data.pages, min: 1, max: 500 }
    schema: ./schemas/ocr.json
    capacity: { rate: 20/s, burst: 20, concurrency: 2 }
    timeout: 60s
    attempts: 3
    keepResults: { age: 1h, count: 1000 }
tiers:
  free: { rate: 1/s,  burst: 1, depth: 50,   weight: 1, concurrency: 1, maxWait: 5m }
  pro:  { rate: 10/s, burst: 5, jobRate: 60/m, depth: 1000, maxBytes: 64MB, weight: 4, concurrency: 4 }
defaultTier: free
tenants:
  acme: { tier: pro, key: env:ACME_KEY, types: { ocr: { rate: 2/s } } }
policies:
  api:  { algorithm: token-bucket, rate: 2/s, burst: 100, onOutage: open,
          byTier: { anonymous: { rate: 50/m, burst: 50 }, pro: { rate: 2000/m, burst: 2000 } } }
  pay:  { algorithm: sliding-window-log, limit: 60, window: 1m, onOutage: closed }
  both: { all: [ { per: key, rate: 5/s, burst: 10 }, { per: policy, rate: 500/s, burst: 500 } ] }
`;
  const cwd = await folderWith({ 'headgate.yaml': text });
  await mkdir(join(cwd, 'schemas'));
  await writeFile(join(cwd, 'schemas/ocr.json'), '{}');
  const config = await loadConfig({ env: { HEADGATE_ADMIN_KEY: `${KEY}1`, ACME_KEY: KEY }, cwd });
  expect(config.admin.keys).toEqual([`${KEY}1`]);
  expect(config.types.get('ocr')?.mode).toBe('shape');
  expect([...config.policies.keys()]).toEqual(['api', 'pay', 'both']);
});

test('a tier and tenants that share text through YAML anchors each have it', async () => {
  const config = await loadText('types: {}\ntiers: { a: &a { rate: 5/s, weight: 2 }, b: *a }\n');
  expect(config.tiers.get('b')?.stated).toEqual({ ratePerSecond: 5, weight: 2 });
});

test.each([
  '__proto__',
  'constructor',
  'toString',
  'a:b',
  '{a}',
  'a*',
  '😀',
  'e\u0301',
  '\u00e9',
  'null',
  ' ',
  'a\u0000b',
  'x'.repeat(128),
])('a tenant may be called %j', async (id) => {
  const config = await loadText(`types: {}\ntenants: { ${JSON.stringify(id)}: { rate: 7/s, types: {} } }\n`);
  expect([...config.tenants.keys()]).toEqual([id]);
  expect(config.tenants.get(id)?.stated.ratePerSecond).toBe(7);
});

test('JSON is YAML', async () => {
  const config = await loadText(
    JSON.stringify({ types: { x: { timeout: '5s' } }, tenants: { a: { weight: 2.5 } } }, null, '\t'),
  );
  expect(config.types.get('x')?.timeoutMs).toBe(5000);
  expect(config.tenants.get('a')?.stated.weight).toBe(2.5);
});

describe('the command line goes before the environment, and that before the file', () => {
  const text = 'types: {}\nlisten: file:1\n';
  const env = { HEADGATE_LISTEN: 'env:2', HEADGATE_DATA: 'env-data' };

  test('for the address', async () => {
    expect((await loadText(text)).listen).toEqual({ host: 'file', port: 1 });
    expect((await loadText(text, { env })).listen).toEqual({ host: 'env', port: 2 });
    expect((await loadText(text, { env, overrides: { listen: 'line:3' } })).listen).toEqual({ host: 'line', port: 3 });
  });

  test('for the data folder', async () => {
    const cwd = await folderWith({ 'headgate.yaml': text });
    expect((await loadConfig({ env: {}, cwd })).dataDir).toBe(join(cwd, '.headgate'));
    expect((await loadConfig({ env, cwd })).dataDir).toBe(join(cwd, 'env-data'));
    expect((await loadConfig({ env, cwd, overrides: { dataDir: '/line' } })).dataDir).toBe('/line');
  });

  test('an admin key of the environment is one more', async () => {
    const withKey = `types: {}\nadmin: { keys: [${KEY}] }\n`;
    const env = { HEADGATE_ADMIN_KEY: 'from-the-environment' };
    expect((await loadText(withKey, { env })).admin.keys).toEqual([KEY, 'from-the-environment']);
    expect((await loadText(withKey, { env: { HEADGATE_ADMIN_KEY: KEY } })).admin.keys).toEqual([KEY]);
  });
});

describe('REDIS_URL', () => {
  const env = { REDIS_URL: 'redis://elsewhere:6379' };
  const elsewhere = { kind: 'server', url: 'redis://elsewhere:6379' };

  test('wins over embedded, stated or not', async () => {
    expect((await loadText('types: {}', { env })).redis).toEqual(elsewhere);
    expect((await loadText('types: {}\nredis: embedded', { env })).redis).toEqual(elsewhere);
    expect((await loadText('types: {}', { env: { REDIS_URL: '' } })).redis).toEqual({ kind: 'embedded' });
  });

  test('does not win over a server that the file names', async () => {
    expect((await loadText('types: {}\nredis: redis://here', { env })).redis).toEqual({
      kind: 'server',
      url: 'redis://here',
    });
  });

  test('may be what the file asks for by name', async () => {
    const config = await loadText('types: {}\nredis: env:CACHE', { env: { CACHE: 'redis://cache' } });
    expect(config.redis).toEqual({ kind: 'server', url: 'redis://cache' });
  });
});

test('problems outside the file are told under their own name, together with those inside', async () => {
  const cwd = await folderWith({ 'headgate.yaml': 'types: 5' });
  const env = { REDIS_URL: 'http://x', HEADGATE_ADMIN_KEY: 'short', HEADGATE_LISTEN: '8080' };
  const problems = await problemsOfLoading({
    env,
    cwd,
    overrides: { listen: 'nowhere', dataDir: '', shutdownGrace: '2h' },
  });
  expect(problems).toEqual([
    '1:8 types: expected a mapping of names ({} for none); got 5',
    'HEADGATE_ADMIN_KEY: an API key has at least 16 characters, this one 5',
    'REDIS_URL: expected embedded, redis://HOST[:PORT][/DB], rediss://HOST[:PORT][/DB] or a unix socket (unix:///PATH, /PATH or ./PATH); got "http://x"',
    '--listen: expected HOST:PORT such as 127.0.0.1:8080 or "[::1]:8080" (port 0: any free one); got "nowhere"',
    '--data: expected the path of a folder',
    '--shutdown-grace: expected a duration from 0s to 1h, such as 30s; got "2h"',
  ]);
  expect(await problemsOfLoading({ env: { HEADGATE_LISTEN: '8080' }, cwd: await folderWith({}) })).toEqual([
    'HEADGATE_LISTEN: expected HOST:PORT such as 127.0.0.1:8080 or "[::1]:8080" (port 0: any free one); got "8080"',
  ]);
});

test('the error reads as a list of places that an editor can open', async () => {
  const cwd = await folderWith({ 'headgate.yaml': 'types: {}\nlisten: 8080\nredis: 5\n', 'empty.yaml': '- x' });
  const message = async (file: string) =>
    loadConfig({ env: { HEADGATE_DATA: '\0' }, cwd, file }).catch((error: unknown) => error);
  const error = await message('headgate.yaml');
  expect(error).toBeInstanceOf(ConfigError);
  expect(String(error)).toBe(
    [
      'ConfigError: The configuration has 3 problems:',
      '  headgate.yaml:2:9 listen: expected HOST:PORT such as 127.0.0.1:8080 or "[::1]:8080" (port 0: any free one); got 8080',
      '  headgate.yaml:3:8 redis: expected embedded, redis://HOST[:PORT][/DB], rediss://HOST[:PORT][/DB] or a unix socket (unix:///PATH, /PATH or ./PATH), or a mapping with url, sentinel or cluster; got a number',
      '  HEADGATE_DATA: expected the path of a folder',
    ].join('\n'),
  );
  expect(String(await message('missing.yaml'))).toContain(
    `  missing.yaml: ${join(cwd, 'missing.yaml')} cannot be read`,
  );
  expect(String(await message('empty.yaml'))).toContain('  empty.yaml:1:1: expected a mapping with redis');
});
