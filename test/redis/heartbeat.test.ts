import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type ConnectionOptions, closeConnection, openConnection, untilReady } from '../../src/redis/connection.js';
import { Subscriber } from '../../src/redis/subscriber.js';
import { startRedis, type TestRedis } from '../support/redis-server.js';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.js';

let server: TestRedis;
let proxy: TcpProxy;
const connections: ReturnType<typeof openConnection>[] = [];
beforeEach(async () => {
  server = await startRedis();
  proxy = await startTcpProxy(server.socketPath);
});
afterEach(async () => {
  for (const connection of connections.splice(0)) closeConnection(connection);
  await proxy.stop();
  await server.stop();
});

const QUICK = { name: 'test', deadlineMs: 300, heartbeatMs: 100 };

async function open(options: Partial<ConnectionOptions> = {}) {
  const told: string[] = [];
  const onState = (state: string, detail: string) => void told.push(`${state} ${detail}`.trim());
  const redis = openConnection({ url: proxy.url }, { ...QUICK, onState, ...options });
  connections.push(redis);
  await untilReady(redis);
  return { redis, told };
}

describe('a peer that is gone without a word', () => {
  test('is noticed on an idle connection, which takes a new one', async () => {
    const { redis, told } = await open();
    proxy.forget();
    await expect.poll(() => told).toEqual(['up', 'down no answer within 300 ms', 'up']);
    expect(await redis.ping()).toBe('PONG');
  });

  test('is noticed by a subscriber, which hears again on a new connection', async () => {
    const { redis, told } = await open();
    const heard: string[] = [];
    new Subscriber(redis).subscribe('wake', (message) => heard.push(message));
    const publisher = server.client();
    await expect.poll(() => publisher.spublish('wake', 'before')).toBe(1);
    proxy.forget();
    await expect.poll(() => told.length).toBe(3);
    await expect
      .poll(async () => {
        await publisher.spublish('wake', 'after');
        return heard;
      })
      .toContain('after');
  });

  test('that stays away is asked again and again, and told of once', async () => {
    const { redis, told } = await open();
    const { connections: before } = proxy;
    proxy.swallow();
    await expect.poll(() => proxy.connections).toBeGreaterThan(before + 2);
    expect(told).toEqual(['up', 'down no answer within 300 ms']);
    await proxy.pass();
    await untilReady(redis);
    expect(await redis.ping()).toBe('PONG');
  });
});

test('a connection over a slow network is kept', async () => {
  const { redis, told } = await open();
  const { connections: before } = proxy;
  proxy.delay(50);
  const asked = proxy.commands;
  await expect.poll(() => proxy.commands).toBeGreaterThan(asked + 5);
  expect(await redis.ping()).toBe('PONG');
  expect(proxy.connections).toBe(before);
  expect(told).toEqual(['up']);
});

test('a connection that is closed asks no more', async () => {
  const { redis } = await open();
  closeConnection(redis);
  await new Promise((resolve) => redis.once('end', resolve));
  expect(await server.client().client('LIST')).not.toContain('name=headgate:test');
});
