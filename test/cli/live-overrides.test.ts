import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { pino } from 'pino';
import { afterEach, expect, test } from 'vitest';
import { startApi } from '../../src/cli/api-server.js';
import { configFrom } from '../http/support/test-config.js';
import { startRedis } from '../support/redis-server.js';

const ADMIN = 'admin-key-0123456789';
const YAML = `
listen: 127.0.0.1:0
admin: { keys: [${ADMIN}] }
types: { ocr: { capacity: { rate: 5/s } } }
tiers: { pro: {}, gold: {} }
defaultTier: pro
tenants: { acme: { rate: 4/s, key: acme-key-0123456789 } }
`;

const endings: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end();
});

/** A folder in which one Redis after the other keeps its data. */
async function dataFolder(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'hg-live-'));
  endings.push(() => rm(dir, { recursive: true, force: true }));
  return dir;
}

async function redisOver(dir: string) {
  const server = await startRedis({ dir, appendonly: true });
  endings.push(() => server.stop());
  return server;
}

/** The API of a configuration, as it is started, and what it logged. */
async function apiOver(dir: string, yaml = YAML) {
  const lines: Record<string, unknown>[] = [];
  const sink = new Writable({
    write(line, _encoding, done) {
      lines.push(JSON.parse(String(line)));
      done();
    },
  });
  const redis = { target: { socketPath: join(dir, 'redis.sock') }, release: async () => undefined };
  const log = pino({ level: 'info' }, sink);
  const api = await startApi(await configFrom(yaml), { file: 'keys.json', isNew: false }, redis, log);
  endings.push(() => api.close());
  const ask = async (method: string, path: string, body?: object) => {
    const response = await fetch(`${api.url}/v1/${path}`, {
      method,
      headers: { authorization: `Bearer ${ADMIN}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: await response.json() };
  };
  const said = (msg: string) => lines.filter((line) => String(line.msg).includes(msg));
  return { ask, said };
}

test('the start log lists every override, each on a line, and those that mean nothing by this file', async () => {
  const dir = await dataFolder();
  await redisOver(dir);
  const first = await apiOver(dir);
  expect(first.said('overridden')).toEqual([]);
  await first.ask('PATCH', 'tenants/acme', { rate: '3/s', types: { ocr: { depth: 5 } } });
  await first.ask('PUT', 'tenants/a%2Fb', { tier: 'gold' });
  await first.ask('PATCH', 'tiers/pro', { weight: 2 });
  await first.ask('POST', 'types/ocr/pause');

  const second = await apiOver(dir, YAML.replace(', gold: {}', ''));
  const listed = second.said('overridden at run time').map(({ place, overrides }) => ({ place, overrides }));
  expect(listed).toHaveLength(4);
  expect(listed).toEqual(
    expect.arrayContaining([
      { place: 'tenants.acme', overrides: { rate: '3/s', 'types.ocr.depth': '5' } },
      { place: 'tenants["a/b"]', overrides: { tier: 'gold' } },
      { place: 'tiers.pro', overrides: { weight: '2' } },
      { place: 'types.ocr', overrides: { paused: '1' } },
    ]),
  );
  expect(second.said('mean nothing')).toMatchObject([{ level: 40, place: 'tenants["a/b"]', ignored: ['tier'] }]);
  expect((await second.ask('GET', 'tenants/a%2Fb')).body).toMatchObject({ tier: { value: 'pro', from: 'default' } });
});

test('rates of the file that add up to more than a capacity are warned of once, with Redis or without', async () => {
  const dir = await dataFolder();
  const more = YAML.replace('tenants: {', 'tenants: { b: {}, c: { rate: 2/s },');
  const lone = await apiOver(dir, more);
  expect(lone.said('add up to 7/s')).toMatchObject([{ level: 40, type: 'ocr' }]);
  await redisOver(dir);
  await expect.poll(() => lone.said('redis is there')).toHaveLength(1);
  expect(lone.said('add up to')).toHaveLength(1);
  expect((await apiOver(dir)).said('add up to')).toEqual([]);
});

test('a rate of 0 in the file is said to mean paused', async () => {
  const dir = await dataFolder();
  await redisOver(dir);
  const still = await apiOver(dir, YAML.replace('rate: 4/s', 'rate: 0'));
  expect(still.said('a rate of 0 means paused')).toMatchObject([{ level: 40, places: ['tenants.acme.rate'] }]);
  expect((await apiOver(dir)).said('means paused')).toEqual([]);
});

test('a Redis that comes late brings its overrides, and what waits follows', async () => {
  const dir = await dataFolder();
  const server = await redisOver(dir);
  const first = await apiOver(dir);
  await first.ask('POST', 'jobs', { type: 'ocr', tenant: 'acme', data: {} });
  await first.ask('PATCH', 'tenants/acme', { rate: '3/s' });
  await server.stop();

  const late = await apiOver(dir);
  expect((await late.ask('GET', 'tenants/acme')).status).toBe(503);
  await redisOver(dir);
  await expect.poll(() => late.said('overridden at run time')).toHaveLength(1);
  expect((await late.ask('GET', 'tenants/acme')).body).toMatchObject({
    types: { ocr: { profile: { rate: { value: '3/s', from: 'override' } } } },
  });
  const { body } = await late.ask('GET', 'limits?tenant=acme&type=ocr');
  expect(body).toMatchObject({ limits: [{ waiting: 1, profile: { ratePerSecond: 3 } }] });
});
