import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Cluster, Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { closeConnection, openConnection, type RedisLink, untilReady } from '../../src/redis/connection.js';
import { shardTag, wakeChannel } from '../../src/redis/keys.js';
import { isCluster } from '../../src/redis/masters.js';
import { Subscriber } from '../../src/redis/subscriber.js';
import { ShapedType } from '../shaping/shaped-type.js';
import { moveSlot, startCluster, type TestCluster, withClient } from '../support/redis-cluster.js';
import type { TestRedis } from '../support/redis-server.js';

const JITI = fileURLToPath(new URL('../../node_modules/jiti/lib/jiti-cli.mjs', import.meta.url));
const CHILD = fileURLToPath(new URL('./subscriber-child.ts', import.meta.url));
const DEADLINE_MS = 5000;
const NEVER_MS = 2 ** 31 - 1;
const PREFIX = 'shop:';
const CHANNELS = Array.from({ length: 16 }, (_, shard) => wakeChannel(shardTag('ocr', shard)));

let cluster: TestCluster;
let publisher: Cluster;
const opened: RedisLink[] = [];

beforeAll(async () => {
  cluster = await startCluster(3, true);
  publisher = await open('publisher');
  opened.pop();
});
afterEach(() => {
  for (const link of opened.splice(0)) closeConnection(link);
});
afterAll(async () => {
  if (publisher) closeConnection(publisher);
  await cluster?.stop();
});

/** @param looks Whether it looks by itself, from time to time, who has which slots. */
async function open(name: string, { looks = true } = {}): Promise<Cluster> {
  const link = openConnection({ cluster: cluster.addresses, keyPrefix: PREFIX }, { name, deadlineMs: DEADLINE_MS });
  if (!isCluster(link)) throw new Error('it is one');
  if (!looks) link.options.slotsRefreshInterval = NEVER_MS;
  opened.push(link);
  await untilReady(link);
  return link;
}

/** A subscriber to all channels, once it hears them all. */
async function listen(name: string, options: { readonly looks?: boolean } = {}) {
  const link = await open(name, options);
  const subscriber = new Subscriber(link);
  const heard: string[] = [];
  let told = 0;
  subscriber.onSubscribed(() => {
    told += 1;
  });
  for (const channel of CHANNELS) subscriber.subscribe(channel, (message) => heard.push(`${channel} ${message}`));
  const hears = async (channels: readonly string[] = CHANNELS) => {
    const message = `message ${Math.random()}`;
    for (const channel of channels) await expect.poll(() => reached(channel, message)).toBeGreaterThan(0);
    const wanted = channels.map((channel) => `${channel} ${message}`);
    await expect.poll(() => heard).toEqual(expect.arrayContaining(wanted));
  };
  await hears();
  return { link, subscriber, heard, hears, told: () => told };
}

/** How many heard it; none where the channel's slot is served by nobody just now. */
async function reached(channel: string, message: string): Promise<number> {
  return Number(await publisher.spublish(channel, message).catch(() => 0));
}

const servers = () => [...cluster.nodes, ...cluster.replicas];

/** Connections of this name, and how many channels are told over each. */
async function channelsOf(name: string, server: TestRedis): Promise<number[]> {
  const list = await withClient(server, async (redis) => String(await redis.client('LIST')));
  const ours = list.split('\n').filter((client) => client.includes(` name=headgate:${name} `));
  return ours.map((client) => Number(/ ssub=(\d+)/.exec(client)?.[1]));
}

/** Who has a channel's slot: whoever else is asked for a key in it refuses. */
async function homeOf(channel: string): Promise<{ readonly slot: number; readonly master: TestRedis }> {
  const key = `${PREFIX}${channel}`;
  const slot = Number(await publisher.cluster('KEYSLOT', key));
  for (const master of servers()) {
    const isHome = await withClient(master, (redis) => redis.exists(key)).then(
      () => true,
      () => false,
    );
    if (isHome) return { slot, master };
  }
  throw new Error(`no master has ${channel}`);
}

async function isMaster(server: TestRedis): Promise<boolean> {
  const [role] = await withClient(server, (redis) => redis.role());
  return String(role) === 'master';
}

/** Messages that all nodes have sent to others to be published there, in the whole cluster and in their own shard. */
async function sentOverBus(): Promise<{ readonly everywhere: number; readonly inShard: number }> {
  const infos = await Promise.all(
    servers().map((server) => withClient(server, async (redis) => String(await redis.cluster('INFO')))),
  );
  const sum = (kind: string) =>
    infos.reduce((all, info) => all + Number(new RegExp(`messages_${kind}_sent:(\\d+)`).exec(info)?.[1] ?? 0), 0);
  return { everywhere: sum('publish'), inShard: sum('publishshard') };
}

async function move(channel: string): Promise<TestRedis> {
  const { slot, master } = await homeOf(channel);
  const [to, ...others] = cluster.nodes.filter((node) => node.pid !== master.pid);
  if (to === undefined) throw new Error('there is another master');
  await moveSlot(slot, master, to, others);
  return to;
}

/** As if Redis had said nothing of it. */
function ignoreErrors(node: Redis): void {
  const emit = node.emit.bind(node);
  node.emit = (event: string | symbol, ...args: unknown[]) => event !== 'error' && emit(event, ...args);
}

/** A process with a subscriber to all channels. */
function startChild(): ChildProcess {
  const args = [JITI, CHILD, JSON.stringify({ cluster: cluster.addresses, keyPrefix: PREFIX }), ...CHANNELS];
  return spawn(process.execPath, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
}

async function told(child: ChildProcess, what: string): Promise<unknown> {
  for (;;) {
    const [message] = await once(child, 'message');
    if (message[0] === what) return message[1];
  }
}

describe('a subscriber on a cluster', () => {
  test('hears every channel of the master that has it, over one connection to each', async () => {
    await listen('one-each');
    const told = await Promise.all(cluster.nodes.map((master) => channelsOf('one-each', master)));
    expect(told.map(({ length }) => length)).toEqual([1, 1, 1]);
    expect(told.flat().reduce((sum, channels) => sum + channels)).toBe(CHANNELS.length);
    // A replica may have been the one that was asked first who has which slots.
    for (const replica of cluster.replicas) expect([[], [0]]).toContainEqual(await channelsOf('one-each', replica));
  });

  test('hears a channel that it is told of later', async () => {
    const { subscriber } = await listen('later');
    const heard: string[] = [];
    const channel = wakeChannel(shardTag('late', 3));
    subscriber.subscribe(channel, (message) => heard.push(message));
    await expect.poll(() => reached(channel, 'x')).toBe(1);
    await expect.poll(() => heard).toContain('x');
  });

  test('is asked for nothing twice while nothing changes', async () => {
    const { link } = await listen('quiet');
    const asked = async () => {
      const stats = await Promise.all(
        servers().map((server) => withClient(server, (redis) => redis.info('commandstats'))),
      );
      return stats.map((each) => Number(/cmdstat_ssubscribe:calls=(\d+)/.exec(each)?.[1] ?? 0));
    };
    const before = await asked();
    for (let look = 0; look < 3; look += 1) {
      await new Promise<void>((resolve) => link.refreshSlotsCache(() => resolve()));
    }
    expect(await asked()).toEqual(before);
  });

  test('follows a slot that moves, as soon as the master that had it says so, and tells that something may be missed', async () => {
    const { hears, told } = await listen('moved', { looks: false });
    for (const channel of CHANNELS.slice(0, 3)) {
      const before = told();
      await move(channel);
      await hears([channel]);
      await expect.poll(told).toBeGreaterThan(before);
    }
    await hears();
  });

  test('follows a move of which it was not told once it looks who has which slots', async () => {
    const { link, hears } = await listen('unaware', { looks: false });
    for (const node of link.nodes()) ignoreErrors(node);
    const [channel = ''] = CHANNELS;
    await move(channel);
    expect(await reached(channel, 'nobody hears')).toBe(0);
    link.refreshSlotsCache();
    await hears([channel]);
  });

  test('asks again where it believed another master to have a slot', async () => {
    const link = await open('mistaken', { looks: false });
    const [channel = ''] = CHANNELS;
    const { slot, master } = await homeOf(channel);
    const wrong = cluster.nodes.find(({ pid }) => pid !== master.pid);
    link.slots[slot] = [`127.0.0.1:${wrong?.port}`];
    const heard: string[] = [];
    new Subscriber(link).subscribe(channel, (message) => heard.push(message));
    await expect
      .poll(async () => {
        await reached(channel, 'x');
        return heard;
      })
      .toContain('x');
  });

  test('hears again when its connections are killed', async () => {
    const { hears, told } = await listen('killed', { looks: false });
    const before = told();
    for (const server of cluster.nodes) {
      await withClient(server, (redis) => redis.client('KILL', 'TYPE', 'pubsub'));
    }
    await hears();
    expect(told()).toBeGreaterThan(before);
  });

  test('is woken by a script, of which no server hears but the replica of the one where it ran', async () => {
    const type = new ShapedType(publisher, {}, 16);
    await type.source.configure();
    const subscriber = new Subscriber(await open('workers'));
    const listening = new Promise<void>((resolve) => subscriber.onSubscribed(resolve));
    const woken: string[] = [];
    type.source.listen(subscriber, (message) => woken.push(message));
    await listening;
    woken.length = 0;
    const before = await sentOverBus();
    await type.fill('acme', 1);
    await expect.poll(() => woken).toContain('wake');
    const after = await sentOverBus();
    expect(after).toEqual({ everywhere: before.everywhere, inShard: before.inShard + 1 });
    // A message to all is sent to each of the five others.
    await publisher.publish('anywhere', 'x');
    expect(await sentOverBus()).toEqual({ ...after, everywhere: after.everywhere + 5 });
  });

  test('closes without waiting for a master that stands still, and leaves no timer and no socket behind', async () => {
    const child = startChild();
    await told(child, 'listening');
    const [, , master] = cluster.nodes;
    if (master === undefined) throw new Error('there are three');
    await expect.poll(async () => (await channelsOf('child', master))[0]).toBeGreaterThan(0);
    process.kill(master.pid, 'SIGSTOP');
    child.send('close');
    expect(await told(child, 'closed')).toEqual([]);
    process.kill(master.pid, 'SIGCONT');
    child.disconnect();
    await once(child, 'exit');
  });

  test('listens to a replica that takes the place of its master by agreement', async () => {
    const { hears } = await listen('agreed', { looks: false });
    const [replica] = cluster.replicas;
    if (replica) await withClient(replica, (redis) => redis.cluster('FAILOVER'));
    await expect.poll(() => replica && isMaster(replica)).toBe(true);
    await hears();
  });

  test('listens to a replica that takes the place of a dead master', async () => {
    const { hears } = await listen('failover', { looks: false });
    await cluster.nodes[1]?.kill();
    const [, replica] = cluster.replicas;
    await expect.poll(() => replica && isMaster(replica)).toBe(true);
    await hears();
  });
});
