import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { closeConnection, openConnection, untilReady } from '../../src/redis/connection.js';
import { shardTag, sharedQueueKeys } from '../../src/redis/keys.js';
import { FEED_DEADLINE_MS, RedisJobFeed } from '../../src/shaping/job-feed.js';
import { newJobId } from '../../src/shaping/job-id.js';
import { eventually } from '../support/eventually.js';
import { startRedis, type TestRedis } from '../support/redis-server.js';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.js';

let server: TestRedis;
let proxy: TcpProxy;
let commands: ReturnType<typeof openConnection>;
let blocking: ReturnType<typeof openConnection>;
let feed: RedisJobFeed;
const errors: unknown[] = [];

beforeAll(async () => {
  server = await startRedis();
});
beforeEach(async () => {
  await server.flush();
  proxy = await startTcpProxy(server.socketPath);
  commands = openConnection({ socketPath: server.socketPath }, { name: 'commands', deadlineMs: 2000 });
  blocking = openConnection({ url: proxy.url }, { name: 'events', deadlineMs: FEED_DEADLINE_MS });
  await Promise.all([untilReady(commands), untilReady(blocking)]);
  feed = new RedisJobFeed(blocking, commands, (error) => errors.push(error));
});
afterEach(async () => {
  closeConnection(blocking);
  await feed.close();
  closeConnection(commands);
  await proxy.stop();
  expect(errors.splice(0)).toEqual([]);
});
afterAll(() => server.stop());

/** What a watcher was told so far; `look` stands for a look at the job. */
function watched(id: string) {
  const heard: string[] = [];
  const leave = feed.watch(id, async (event) => void heard.push(event ?? 'look'));
  return { heard, leave };
}

async function tell(id: string, ...events: string[]): Promise<void> {
  const [, type = ''] = id.split('.');
  const key = sharedQueueKeys(shardTag(type)).events;
  for (const event of events) await commands.xadd(key, '*', 'event', event, 'jobId', id);
}

test('a watcher looks first, and then hears everything of its own job in order', async () => {
  const [mine, other] = [newJobId('ocr'), newJobId('ocr')];
  await tell(mine, 'added', 'waiting');
  const { heard } = watched(mine);
  await eventually(() => expect(heard).toEqual(['look']));
  await tell(other, 'active', 'completed');
  await tell(mine, 'active', 'progress', 'completed');
  await eventually(() => expect(heard).toEqual(['look', 'active', 'progress', 'completed']));
});

test('one who joins a type that is read already looks at once, and misses nothing from then on', async () => {
  const [first, second] = [newJobId('ocr'), newJobId('ocr')];
  const early = watched(first);
  await eventually(() => expect(early.heard).toEqual(['look']));
  const late = watched(second);
  expect(late.heard).toEqual(['look']);
  await tell(second, 'completed');
  await eventually(() => expect(late.heard).toEqual(['look', 'completed']));
  expect(early.heard).toEqual(['look']);
});

test('a type that joins ends the read that is held open', async () => {
  const early = watched(newJobId('ocr'));
  await eventually(() => expect(early.heard).toEqual(['look']));
  const before = await unblocked();
  for (let i = 0; i < 20; i += 1) {
    const id = newJobId(`type${i}`);
    const { heard, leave } = watched(id);
    await eventually(() => expect(heard).toEqual(['look']));
    await tell(id, 'completed');
    await eventually(() => expect(heard).toEqual(['look', 'completed']));
    leave();
  }
  expect((await unblocked()) - before).toBeGreaterThanOrEqual(10);
});

/** How often a read that was held open was told to end. */
async function unblocked(): Promise<number> {
  const calls = /cmdstat_client\|unblock:calls=(\d+)/.exec(await commands.info('commandstats'))?.[1];
  return Number(calls ?? 0);
}

test('whoever stopped hears nothing more, and while nobody watches nothing is read', async () => {
  const id = newJobId('ocr');
  const both = [watched(id), watched(id)];
  await eventually(() => expect(both.map(({ heard }) => heard)).toEqual([['look'], ['look']]));
  both[0]?.leave();
  both[0]?.leave();
  await tell(id, 'active');
  await eventually(() => expect(both[1]?.heard).toEqual(['look', 'active']));
  both[1]?.leave();
  await tell(id, 'completed');
  // The read that was held open ends with the event; the next command on this connection is ours.
  await eventually(async () => {
    const before = proxy.commands;
    await blocking.ping();
    expect(proxy.commands - before).toBe(1);
  });
  expect(both.map(({ heard }) => heard)).toEqual([['look'], ['look', 'active']]);
});

test('any number of watchers of many types share one connection', async () => {
  const all = Array.from({ length: 500 }, (_, i) => watched(newJobId(`type${i % 5}`)));
  await eventually(() => expect(all.every(({ heard }) => heard.length === 1)).toBe(true));
  expect(proxy.connections).toBe(1);
});

test('after an outage everybody looks again, and hears what follows', async () => {
  const id = newJobId('ocr');
  const { heard } = watched(id);
  await eventually(() => expect(heard).toEqual(['look']));
  await proxy.refuse();
  await tell(id, 'completed');
  await proxy.pass();
  await eventually(() => expect(heard).toEqual(['look', 'look']));
  await tell(id, 'waiting');
  await eventually(() => expect(heard.at(-1)).toBe('waiting'));
});

test('one who comes while Redis is away looks when it is back', async () => {
  await proxy.refuse();
  const { heard } = watched(newJobId('ocr'));
  await proxy.pass();
  await eventually(() => expect(heard).toEqual(['look']));
});

test('what the stream forgot before it was read is made up for by a look', async () => {
  const [mine, other] = [newJobId('ocr'), newJobId('ocr')];
  const { heard } = watched(mine);
  await eventually(() => expect(heard).toEqual(['look']));
  proxy.swallow();
  // The read that is held open ends with the first event, and what follows is lost to it.
  await tell(other, 'added');
  await tell(mine, 'completed');
  const key = sharedQueueKeys(shardTag('ocr')).events;
  const flood = commands.pipeline();
  for (let i = 0; i < 3000; i += 1) flood.xadd(key, '*', 'event', 'added', 'jobId', other);
  await flood.exec();
  await commands.xtrim(key, 'MAXLEN', 2000);
  await proxy.pass();
  await eventually(() => expect(heard).toEqual(['look', 'look']));
});
