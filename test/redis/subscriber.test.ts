import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { closeConnection, openConnection, untilReady } from '../../src/redis/connection.js';
import { Subscriber } from '../../src/redis/subscriber.js';
import { startRedis, type TestRedis } from '../support/redis-server.js';

let dir: string;
const servers: TestRedis[] = [];
let redis: ReturnType<typeof openConnection>;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'hg-subscriber-'));
});
afterEach(async () => {
  closeConnection(redis);
  for (const server of servers.splice(0)) await server.stop();
  await rm(dir, { recursive: true });
});

async function start(): Promise<TestRedis> {
  const server = await startRedis({ dir });
  servers.push(server);
  return server;
}

async function subscriber(keyPrefix = ''): Promise<Subscriber> {
  redis = openConnection({ socketPath: join(dir, 'redis.sock'), keyPrefix }, { name: 'test', deadlineMs: 2000 });
  await untilReady(redis);
  return new Subscriber(redis);
}

describe('a subscriber', () => {
  test('hears each channel apart, until it is told to stop', async () => {
    const server = await start();
    const ears = await subscriber();
    const heard: string[] = [];
    const stop = ears.subscribe('one', (message) => heard.push(`one ${message}`));
    ears.subscribe('two', (message) => heard.push(`two ${message}`));
    const publisher = server.client();
    await expect.poll(() => publisher.spublish('two', 'x')).toBe(1);
    await publisher.spublish('one', 'a');
    await expect.poll(() => heard).toContain('one a');
    stop();
    await publisher.spublish('one', 'b');
    await publisher.spublish('two', 'c');
    await expect.poll(() => heard).toContain('two c');
    expect(heard.filter((each) => each.startsWith('one'))).toEqual(['one a']);
  });

  test('tells once when all channels are listened to, and again after a restart of Redis', async () => {
    const server = await start();
    const ears = await subscriber('shop:');
    const heard: string[] = [];
    const channels: unknown[] = [];
    ears.onSubscribed(async () => channels.push(await servers.at(-1)?.client().pubsub('SHARDCHANNELS')));
    for (const channel of ['one', 'two']) ears.subscribe(channel, (message) => heard.push(message));
    const both = expect.toSatisfy((names: string[]) => names.toSorted().join() === 'shop:one,shop:two');
    await expect.poll(() => channels).toEqual([both]);
    await server.kill();
    const again = (await start()).client();
    await expect.poll(() => channels).toEqual([both, both]);
    await again.spublish('shop:one', 'back');
    await expect.poll(() => heard).toEqual(['back']);
  });
});
