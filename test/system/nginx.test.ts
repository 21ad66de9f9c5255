import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HeadgateFolder, type HeadgateProcess } from '../support/headgate-process.js';
import { startRedis, type TestRedis } from '../support/redis-server.js';
import { startApplication, type TestApplication } from './support/application.js';
import { type Asked, askFrom } from './support/ask-from.js';
import { type GatewayParts, startNginxOfDocs } from './support/gateways-of-docs.js';

const GATEWAY_KEY = 'the-key-of-the-gateway-of-this-test';
/** A hundred at once, and next to nothing after; on a busy machine, too, Redis decides. */
const HUNDRED = { rate: '0.001/s', burst: 100, deadline: '5s' };

let redis: TestRedis;
let folder: HeadgateFolder;
let headgate: HeadgateProcess;
let application: TestApplication;
const stops: (() => Promise<void>)[] = [];

beforeAll(async () => {
  redis = await startRedis({ port: true });
  folder = await HeadgateFolder.create({
    redis: redis.url,
    trustProxy: 'loopback',
    gateways: { keys: [GATEWAY_KEY] },
    types: {},
    policies: {
      api: { ...HUNDRED, onOutage: 'open' },
      strict: { ...HUNDRED, burst: 1, onOutage: 'closed' },
    },
    routes: [{ method: 'POST', path: '/uploads/*', policy: 'api', cost: 50 }],
  });
  headgate = await folder.start('serve');
  application = await startApplication();
});
afterAll(async () => {
  for (const stop of stops.toReversed()) await stop();
  await application?.close();
  await folder?.remove();
  await redis?.stop();
});

async function nginx(parts: Partial<GatewayParts> = {}): Promise<string> {
  const started = await startNginxOfDocs({ headgate: headgate.url, application, gatewayKey: GATEWAY_KEY, ...parts });
  stops.push(() => started.stop());
  return started.url;
}

let clients = 1;
/** An address from which nobody has asked yet. */
function newClient(): string {
  clients += 1;
  return `127.0.0.${clients}`;
}

/** Many requests of a client, some of them at once. */
async function many(url: string, from: string, count: number): Promise<Asked[]> {
  const answers: Asked[] = [];
  const asker = async () => {
    while (answers.length < count) {
      const at = answers.push(NOT_YET) - 1;
      answers[at] = await askFrom(url, { from });
    }
  };
  await Promise.all(Array.from({ length: 20 }, asker));
  return answers;
}
const NOT_YET: Asked = { status: 0, headers: {}, body: '' };

async function exhausted(url: string): Promise<string> {
  const from = newClient();
  await many(url, from, 100);
  return from;
}

describe('nginx with the configuration of the docs', () => {
  let url: string;
  beforeAll(async () => {
    url = await nginx();
  });

  it('lets a hundred requests of a client through, and answers the next with 429', async () => {
    const from = newClient();
    const before = application.arrivals.length;
    const first = await askFrom(url, { from });
    expect([first.status, first.body]).toEqual([200, 'from the application']);
    expect(first.headers).toMatchObject({
      ratelimit: '"burst";r=99;t=1000',
      'ratelimit-policy': '"burst";q=100;w=100000',
    });
    const rest = await many(url, from, 119);
    expect(rest.filter(({ status }) => status === 200)).toHaveLength(99);
    expect(application.arrivals.length - before).toBe(100);

    const refused = rest.filter(({ status }) => status === 429);
    expect(refused).toHaveLength(20);
    for (const { headers, body } of refused) {
      expect(headers).toMatchObject({
        'retry-after': expect.stringMatching(/^(1000|99\d)$/),
        ratelimit: expect.stringMatching(/^"burst";r=0;t=(1000|99\d)$/),
        'ratelimit-policy': '"burst";q=100;w=100000',
        'content-type': 'application/problem+json',
      });
      expect(JSON.parse(body)).toMatchObject({ status: 429, code: 'rate_limited' });
    }
  });

  it('has a limit for each client', async () => {
    await exhausted(url);
    expect((await askFrom(url, { from: newClient() })).status).toBe(200);
  });

  it.each([
    ['X-Forwarded-For', '192.0.2.7'],
    ['X-Headgate-Subject', 'somebody else'],
    ['X-Headgate-Tier', 'pro'],
    ['X-Original-URI', '/elsewhere'],
    ['X-Headgate-Gateway-Key', 'a guess'],
  ])('is not led around by a client that sends %s', async (header, value) => {
    const from = await exhausted(url);
    expect((await askFrom(url, { from, headers: { [header]: value } })).status).toBe(429);
  });

  it('sends the application the whole request, with the client’s own Authorization', async () => {
    const body = 'x'.repeat(100_000);
    const headers = { authorization: 'Bearer for-the-application', 'content-length': String(body.length) };
    const answer = await askFrom(`${url}/a?b=c`, { from: newClient(), method: 'PUT', headers, body });
    expect(answer.status).toBe(200);
    const arrival = application.arrivals.at(-1);
    expect(arrival).toMatchObject({ method: 'PUT', url: '/a?b=c', body });
    expect(arrival?.headers).toMatchObject({ authorization: 'Bearer for-the-application' });
    expect(arrival?.headers).not.toHaveProperty('x-headgate-gateway-key');
  });

  it('cannot be asked for the question itself', async () => {
    expect((await askFrom(`${url}/_headgate`, { from: newClient() })).status).toBe(404);
  });

  it('leaves a 403 of the application alone', async () => {
    const answer = await askFrom(`${url}/forbidden`, { from: newClient() });
    expect([answer.status, answer.body]).toEqual([403, 'from the application']);
  });
});

describe('nginx, where the answer is neither 200 nor a limit,', () => {
  it('answers 403 to what can never pass, without a wait', async () => {
    const url = await nginx({ query: 'policy=api&cost=101' });
    const answer = await askFrom(url, { from: newClient() });
    expect(answer.status).toBe(403);
    expect(answer.headers['content-type']).toBe('application/problem+json');
    expect(answer.headers).not.toHaveProperty('retry-after');
  });

  it.each([
    ['a key that Headgate does not know', { gatewayKey: 'not-the-key-of-the-gateway' }],
    ['a policy that there is not', { query: 'policy=none' }],
  ])('answers 503 when it asks with %s, and does not tell the client to log in', async (_, parts) => {
    const url = await nginx(parts);
    const before = application.arrivals.length;
    const answer = await askFrom(url, { from: newClient() });
    expect([answer.status, answer.headers['retry-after']]).toEqual([503, '1']);
    expect(answer.headers).not.toHaveProperty('www-authenticate');
    expect(application.arrivals.length).toBe(before);
  });

  it('holds requests to the table of routes when it names no policy', async () => {
    const url = await nginx({ query: '' });
    const from = newClient();
    const upload = () => askFrom(`${url}/uploads/a`, { from, method: 'POST', body: 'x' });
    expect([(await upload()).status, (await upload()).status, (await upload()).status]).toEqual([200, 200, 429]);
    const read = await askFrom(`${url}/uploads/a`, { from });
    expect(read.status).toBe(200);
    expect(read.headers).not.toHaveProperty('ratelimit');
  });
});

describe('nginx in an outage', () => {
  it('of Redis answers 503 for a closed policy and lets pass for an open one', async () => {
    const [closed, open] = [await nginx({ query: 'policy=strict' }), await nginx()];
    const from = newClient();
    expect([(await askFrom(closed, { from })).status, (await askFrom(closed, { from })).status]).toEqual([200, 429]);
    await redis.kill();
    const refused = await askFrom(closed, { from });
    expect(refused.status).toBe(503);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThanOrEqual(1);
    expect(refused.headers).not.toHaveProperty('ratelimit');
    expect(JSON.parse(refused.body)).toMatchObject({ code: 'redis_unavailable' });
    const passed = await askFrom(open, { from });
    expect(passed.status).toBe(200);
    expect(passed.headers).not.toHaveProperty('ratelimit');
  });

  it('of Headgate answers 503, or lets pass where it is told to', async () => {
    const [usual, open] = [await nginx(), await nginx({ open: true })];
    await headgate.kill();
    const refused = await askFrom(usual, { from: newClient() });
    expect([refused.status, refused.headers['retry-after']]).toEqual([503, '1']);
    expect(refused.headers['content-type']).toBe('application/problem+json');
    const passed = await askFrom(open, { from: newClient() });
    expect([passed.status, passed.body]).toEqual([200, 'from the application']);
  });
});
