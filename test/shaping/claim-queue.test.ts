import type { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { closeConnection, openConnection, untilReady } from '../../src/redis/connection.js';
import { Subscriber } from '../../src/redis/subscriber.js';
import { ClaimQueue } from '../../src/shaping/claim-queue.js';
import { eventually } from '../support/eventually.js';
import { startRedis, type TestRedis } from '../support/redis-server.js';
import { ShapedType } from './shaped-type.js';

let server: TestRedis;
let redis: Redis;
let listening: Redis;
let subscriber: Subscriber;
let type: ShapedType;
let queue: ClaimQueue;
const errors: unknown[] = [];

beforeAll(async () => {
  server = await startRedis();
  redis = server.client();
  listening = openConnection({ socketPath: server.socketPath }, { name: 'test', deadlineMs: 2000 });
  await untilReady(listening);
  subscriber = new Subscriber(listening);
});
afterAll(async () => {
  closeConnection(listening);
  await server.stop();
});
beforeEach(async () => {
  type = new ShapedType(redis);
  await type.work.configure();
  const heard = new Promise<void>((resolve) => subscriber.onSubscribed(resolve));
  queue = new ClaimQueue(type.source, subscriber, (error) => errors.push(error));
  await heard;
});
afterEach(async () => {
  await queue.close();
  expect(errors).toEqual([]);
});

const forever = new AbortController().signal;
const claim = (token = type.work.newToken(), signal = forever) => queue.claim(token, signal);

test('who came first is served first', async () => {
  const elder = claim();
  await eventually(() => expect(queue.length).toBe(1));
  const younger = claim();
  await eventually(() => expect(queue.length).toBe(2));
  const [first, second] = await type.fill('a', 2);
  expect([(await elder)?.id, (await younger)?.id]).toEqual([first, second]);
});

test('a claim that is repeated answers the same job, though others wait', async () => {
  const token = type.work.newToken();
  const [id] = await type.fill('a', 1);
  expect((await claim(token))?.id).toBe(id);
  const other = claim();
  await eventually(() => expect(queue.length).toBe(1));
  expect((await claim(token))?.id).toBe(id);
  expect(queue.length).toBe(1);
  await type.fill('a', 1);
  expect(await other).toBeDefined();
});

test('a job that was on its way when its caller left goes back', async () => {
  const [id] = await type.fill('a', 1);
  const leaving = new AbortController();
  const left = claim(type.work.newToken(), leaving.signal);
  leaving.abort();
  expect(await left).toBeUndefined();
  expect((await claim())?.id).toBe(id);
});

test('closing answers everybody with nothing', async () => {
  const waiting = claim();
  await eventually(() => expect(queue.length).toBe(1));
  await queue.close();
  expect(await waiting).toBeUndefined();
});
