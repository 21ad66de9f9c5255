import { afterAll, beforeAll, expect, it } from 'vitest';
import { EventStream } from '../http/support/event-stream.js';
import type { Witness } from '../referee/witness.js';
import { eventually } from '../support/eventually.js';
import { HeadgateFolder, type HeadgateProcess } from '../support/headgate-process.js';
import { startRedis, type TestRedis } from '../support/redis-server.js';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.js';
import { ADMIN_KEY, idOf, type RefereedSystem, refereedSystem } from './support/refereed-system.js';

const LIMITED = 60_000;

let redis: TestRedis;
let proxy: TcpProxy;
let system: RefereedSystem;
let api: HeadgateProcess;
let witness: Witness;
let cookie: string;
const streams: EventStream[] = [];

beforeAll(async () => {
  redis = await startRedis();
  proxy = await startTcpProxy(redis.socketPath);
  system = await refereedSystem(
    {
      redis: proxy.url,
      types: { a: {} },
      tiers: { only: { rate: '2/s', depth: 8 } },
      defaultTier: 'only',
    },
    { separateClocks: true, types: [{ type: 'a' }], buckets: [], otherwise: { ratePerSecond: 2, depth: 8 } },
    { arrivalMs: 5000, lateMs: 5000 },
  );
  [api] = await Promise.all([system.folder.start('serve'), system.folder.start('work')]);
  witness = system.witness(api.url);
});
afterAll(async () => {
  for (const stream of streams) stream.leave();
  await system?.end();
  await proxy?.stop();
  await redis?.stop();
});

async function look(query: string): Promise<EventStream> {
  const stream = await EventStream.openWith(`${api.url}/dashboard/stream${query}`, { cookie });
  streams.push(stream);
  return stream;
}

const waitingOf = (stream: EventStream): unknown[] =>
  stream.data('overview').flatMap(({ types }) => (types as { waiting: number }[]).map(({ waiting }) => waiting));

it('a browser signs in once, and then acts by its cookie', { timeout: LIMITED }, async () => {
  const page = await fetch(api.url);
  expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
  const signedIn = await fetch(`${api.url}/dashboard/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: api.url, 'sec-fetch-site': 'same-origin' },
    body: JSON.stringify({ key: ADMIN_KEY }),
  });
  expect([signedIn.status, await signedIn.json()]).toEqual([200, { role: 'admin' }]);
  cookie = signedIn.headers.get('set-cookie')?.split(';')[0] ?? '';
  expect((await fetch(`${api.url}/v1/stats`, { headers: { cookie } })).status).toBe(200);
  const pause = (headers: Record<string, string>) =>
    fetch(`${api.url}/v1/types/a/pause`, { method: 'POST', headers: { cookie, ...headers } });
  expect((await pause({})).status).toBe(403);
  expect((await pause({ 'x-headgate-page': '1', origin: 'http://evil.example' })).status).toBe(403);
});

it('has kept what happened before anybody opened a page', { timeout: 2 * LIMITED }, async () => {
  const glances = async () => {
    const stream = await look('?type=a');
    await eventually(() => expect(stream.events).toContain('history'));
    stream.leave();
    const points = stream.data('history').flatMap((each) => each.points as (number | null)[][]);
    // What waited is not counted while no page is open.
    return points.filter(([, , , , waiting]) => waiting === null).length;
  };
  // A page that is opened more often than every step is in every step.
  await expect.poll(glances, { timeout: LIMITED, interval: 7000 }).toBeGreaterThan(0);
});

it('its page sees jobs come, wait and go', { timeout: LIMITED }, async () => {
  const stream = await look('?type=a&tenant=acme');
  await expect.poll(() => stream.events).toContain('summary');
  const ids: string[] = [];
  for (let sent = 0; sent < 9; sent += 1) ids.push(idOf(await witness.enqueue({ type: 'a', tenant: 'acme', cost: 1 })));
  expect(ids.filter((id) => id === '').length).toBeLessThanOrEqual(1);
  await expect.poll(() => Math.max(...waitingOf(stream).map(Number))).toBeGreaterThanOrEqual(5);
  await expect.poll(() => waitingOf(stream).at(-1)).toBe(0);
  // Each reading finds what is there then, and never more.
  expect(waitingOf(stream).every((waiting) => Number(waiting) <= 8)).toBe(true);
  await expect
    .poll(() => stream.data('tenant').at(-1)?.waitMs)
    .toMatchObject({
      p50: expect.any(Number),
    });
  await witness.followToEnds();
});

it('its page is told when Redis is away, and goes on by itself', { timeout: 2 * LIMITED }, async () => {
  const stream = await look('?type=a');
  await expect.poll(() => stream.events).toContain('overview');
  proxy.swallow();
  await expect.poll(() => stream.data('redis')).toEqual([{ up: false }]);
  // Who is signed in stays so: nobody can be signed out meanwhile.
  const session = await fetch(`${api.url}/dashboard/session`, { headers: { cookie } });
  expect(await session.json()).toEqual({ role: 'admin' });
  await proxy.pass();
  await expect.poll(() => stream.data('redis').at(-1)).toEqual({ up: true });
  const told = waitingOf(stream).length;
  expect((await witness.enqueue({ type: 'a', tenant: 'acme', cost: 1, delayMs: 3000 })).status).toBe(202);
  await expect.poll(() => stream.data('overview').length).toBeGreaterThan(told);
  await witness.followToEnds();
  expect((await system.referee.verdict()).violations).toEqual([]);
});

it('an orderly stop ends its stream', { timeout: LIMITED }, async () => {
  const stream = await look('?type=a');
  await expect.poll(() => stream.events).toContain('hello');
  await api.stop();
  await stream.ended;
});

it('without the dashboard there is neither page nor session', { timeout: LIMITED }, async () => {
  const folder = await HeadgateFolder.create({
    redis: redis.socketPath,
    dashboard: false,
    admin: { keys: [ADMIN_KEY] },
    types: {},
    policies: { api: { rate: '1/s', burst: 1 } },
    tenants: { keyed: { key: 'a-key-so-that-none-is-made' } },
  });
  try {
    const { url } = await folder.start('serve');
    expect(await (await fetch(url)).json()).toMatchObject({ service: 'headgate' });
    expect((await fetch(`${url}/dashboard/session`)).status).toBe(404);
    expect((await fetch(`${url}/v1/stats`, { headers: { cookie } })).status).toBe(401);
  } finally {
    await folder.remove();
  }
});
