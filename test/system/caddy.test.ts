import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HeadgateFolder, type HeadgateProcess } from '../support/headgate-process.js';
import { startRedis, type TestRedis } from '../support/redis-server.js';
import { startApplication, type TestApplication } from './support/application.js';
import { askFrom } from './support/ask-from.js';
import { type Gateway, startCaddyOfDocs } from './support/gateways-of-docs.js';

const GATEWAY_KEY = 'the-key-of-the-gateway-of-this-test';
/** Five at once, and next to nothing after; on a busy machine, too, Redis decides. */
const FIVE = { rate: '0.001/s', burst: 5, deadline: '5s' };

let redis: TestRedis;
let folder: HeadgateFolder;
let headgate: HeadgateProcess;
let application: TestApplication;
let caddy: Gateway;

beforeAll(async () => {
  redis = await startRedis({ port: true });
  folder = await HeadgateFolder.create({
    redis: redis.url,
    trustProxy: 'loopback',
    gateways: { keys: [GATEWAY_KEY] },
    types: {},
    policies: { api: FIVE },
  });
  headgate = await folder.start('serve');
  application = await startApplication();
  caddy = await startCaddyOfDocs({ headgate: headgate.url, application, gatewayKey: GATEWAY_KEY });
});
afterAll(async () => {
  await caddy?.stop();
  await application?.close();
  await folder?.remove();
  await redis?.stop();
});

async function statuses(from: string, count: number, headers: Record<string, string> = {}): Promise<number[]> {
  const all: number[] = [];
  for (let i = 0; i < count; i++) all.push((await askFrom(caddy.url, { from, headers })).status);
  return all;
}

describe('Caddy with the configuration of the docs', () => {
  it('lets a client through up to its limit, and hands on the refusal as it is', async () => {
    expect(await statuses('127.0.0.2', 5)).toEqual([200, 200, 200, 200, 200]);
    const refused = await askFrom(caddy.url, { from: '127.0.0.2' });
    expect(refused.status).toBe(429);
    expect(refused.headers).toMatchObject({
      'content-type': 'application/problem+json',
      'ratelimit-policy': '"burst";q=5;w=5000',
      'retry-after': expect.stringMatching(/^\d+$/),
    });
    expect(JSON.parse(refused.body)).toMatchObject({ status: 429, code: 'rate_limited' });
    expect(await statuses('127.0.0.3', 1)).toEqual([200]);
  });

  it.each([
    ['X-Forwarded-For', '192.0.2.7'],
    ['X-Headgate-Subject', 'somebody else'],
    ['X-Headgate-Tier', 'pro'],
    ['X-Original-URI', '/elsewhere'],
    ['X-Headgate-Gateway-Key', 'a guess'],
  ])('is not led around by a client that sends %s', async (header, value) => {
    expect(await statuses('127.0.0.4', 6)).toContain(429);
    expect(await statuses('127.0.0.4', 1, { [header]: value })).toEqual([429]);
  });

  it('sends the application the whole request, with the client’s own Authorization', async () => {
    const headers = { authorization: 'Bearer for-the-application', 'content-length': '3' };
    const answer = await askFrom(`${caddy.url}/a?b=c`, { from: '127.0.0.5', method: 'PUT', headers, body: 'abc' });
    expect(answer.status).toBe(200);
    expect(application.arrivals.at(-1)).toMatchObject({ method: 'PUT', url: '/a?b=c', body: 'abc' });
    expect(application.arrivals.at(-1)?.headers).toMatchObject({ authorization: 'Bearer for-the-application' });
    expect(application.arrivals.at(-1)?.headers).not.toHaveProperty('x-headgate-gateway-key');
  });

  it('lets nobody through when Headgate cannot be reached', async () => {
    await headgate.kill();
    const before = application.arrivals.length;
    expect(await statuses('127.0.0.6', 1)).toEqual([502]);
    expect(application.arrivals.length).toBe(before);
  });
});
