import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { PolicyConfig } from '../../src/config/policy-config.js';
import { openPolicing } from '../../src/policing/open-policing.js';
import type { Policing } from '../../src/policing/policing.js';
import { closeConnection, openConnection, type RedisLink, untilReady } from '../../src/redis/connection.js';
import { inspectMasters } from '../../src/redis/inspect-masters.js';
import { shardTag, sharedQueueKeys } from '../../src/redis/keys.js';
import { onServer, pingServers } from '../../src/redis/masters.js';
import { MemoryWatch } from '../../src/redis/memory-watch.js';
import { isPassing } from '../../src/redis/outage.js';
import { loadLibrary } from '../../src/redis/script.js';
import { Subscriber } from '../../src/redis/subscriber.js';
import { RedisJobFeed } from '../../src/shaping/job-feed.js';
import { newJobId } from '../../src/shaping/job-id.js';
import { OverrideStore } from '../../src/shaping/override-store.js';
import { library } from '../../src/shaping/scripts.js';
import { RedisTenantKeys } from '../../src/shaping/tenant-keys.js';
import { bucket, named, policy } from '../policing/open-policing-policy.js';
import { moveSlots, startCluster, type TestCluster, withClient } from '../support/redis-cluster.js';

const DEADLINE_MS = 20_000;

let cluster: TestCluster;
const opened: RedisLink[] = [];

beforeAll(async () => {
  cluster = await startCluster(3);
}, 120_000);
afterAll(async () => {
  for (const link of opened) closeConnection(link);
  await cluster?.stop();
});

async function open(deadlineMs = DEADLINE_MS): Promise<RedisLink> {
  const link = openConnection({ cluster: cluster.addresses }, { name: 'test', deadlineMs });
  opened.push(link);
  await untilReady(link);
  return link;
}

async function ids(): Promise<string[]> {
  return Promise.all(
    cluster.nodes.map(async (node) => String(await withClient(node, (redis) => redis.cluster('MYID')))),
  );
}

async function passing(policing: Policing, tenant: string, calls: number): Promise<number> {
  let passed = 0;
  for (let call = 0; call < calls; call += 1) {
    const { allowed, decidedBy } = await policing.decide({ policy: 'api', caller: { tenant }, cost: 1 });
    expect(decidedBy).toBe('policer');
    if (allowed) passed += 1;
  }
  return passed;
}

describe('on a cluster of three masters', () => {
  const patient = (config: PolicyConfig): PolicyConfig => ({ ...config, place: 'redis', deadlineMs: DEADLINE_MS });
  const limits = [
    bucket(3, { ratePerSecond: 1e-6 }),
    bucket(1000, { name: 'all', per: 'policy', ratePerSecond: 1e-6 }),
  ];

  test('policies hold every caller to its limits, whichever master has them', async () => {
    const redis = await open();
    const policing = openPolicing({ policies: named(patient(policy('api', limits.slice(0, 1)))), redis });
    for (let tenant = 0; tenant < 30; tenant += 1) expect(await passing(policing, `t${tenant}`, 5)).toBe(3);
    const held = await Promise.all(cluster.nodes.map((node) => withClient(node, (client) => client.dbsize())));
    expect(held.every((keys) => keys > 0)).toBe(true);
    await policing.close();
  });

  test('limits that share a policy share a slot', async () => {
    const redis = await open();
    const policing = openPolicing({ policies: named(patient(policy('api', limits))), redis });
    expect([await passing(policing, 'both-1', 5), await passing(policing, 'both-2', 5)]).toEqual([3, 3]);
    await policing.close();
  });

  test('keys are made, found and revoked, and overrides are changed and told', async () => {
    const redis = await open();
    const keys = new RedisTenantKeys(redis);
    const made = await keys.create('acme');
    expect((await keys.list('acme')).map(({ id }) => id)).toEqual([made?.id]);
    expect(await keys.revoke('acme', made?.id ?? '')).toBe(true);
    const store = new OverrideStore(redis);
    const subscriber = new Subscriber(await open());
    const heard: string[] = [];
    const listening = new Promise<void>((resolve) => subscriber.onSubscribed(resolve));
    subscriber.subscribe('hg:{overrides}:changed', (message) => heard.push(message));
    await listening;
    await store.change({ kind: 'tenant', name: 'acme' }, new Map([['depth', '5']]), false);
    await expect.poll(() => heard.length, { timeout: 30_000 }).toBe(1);
    expect((await store.readAll()).all.size).toBe(1);
  });

  test('slots move to a new master under load, and no limit is passed or forgotten', { timeout: 120_000 }, async () => {
    const redis = await open();
    const policing = openPolicing({ policies: named(patient(policy('api', limits.slice(0, 1)))), redis });
    const tenants = Array.from({ length: 40 }, (_, i) => `moving-${i}`);
    for (const tenant of tenants) expect(await passing(policing, tenant, 2)).toBe(2);
    await cluster.add();
    const [from = '', , , to = ''] = await ids();
    const before = cluster.nodes[3]?.client();
    expect(await before?.function('LIST')).toEqual([]);
    const moving = moveSlots({ id: from, port: cluster.addresses[0]?.port ?? 0 }, { id: to }, 2000);
    const passed = await Promise.all(tenants.map((tenant) => passing(policing, tenant, 4)));
    await moving;
    expect(passed).toEqual(tenants.map(() => 1));
    for (const tenant of tenants) expect(await passing(policing, tenant, 2)).toBe(0);
    // What lies in the slots that moved is asked of the new master, which knows the functions now.
    expect(await cluster.nodes[3]?.client().dbsize()).toBeGreaterThan(0);
    for (let each = 0; each < 60; each += 1) expect(await passing(policing, `after-${each}`, 4)).toBe(3);
    expect(await cluster.nodes[3]?.client().function('LIST')).not.toEqual([]);
    await policing.close();
  });

  test('every master is looked at, and named', async () => {
    const target = { cluster: cluster.addresses };
    const masters = cluster.nodes.map(({ port }) => `127.0.0.1:${port}`).toSorted();
    const found = await inspectMasters(target, DEADLINE_MS);
    expect(found.map(({ server }) => server).toSorted()).toEqual(masters);
    const evicting = cluster.nodes[1];
    if (evicting) await withClient(evicting, (client) => client.config('SET', 'maxmemory-policy', 'allkeys-lru'));
    const memory = new MemoryWatch(await open(), { highWater: 0.9, highWaterBytes: Infinity, allowEviction: false });
    expect(await memory.look()).toEqual({ kind: 'evicts', policy: 'allkeys-lru' });
    if (evicting) await withClient(evicting, (client) => client.config('SET', 'maxmemory-policy', 'noeviction'));
    expect((await memory.look()).kind).toBe('fine');
  });

  test('while a master is gone, its slots are an outage and the others go on; nothing hangs', {
    timeout: 180_000,
  }, async () => {
    const redis = await open(2000);
    const dead = cluster.nodes[2];
    for (const node of cluster.nodes) {
      await withClient(node, (client) => client.config('SET', 'cluster-require-full-coverage', 'no'));
    }
    const ids = Array.from({ length: 12 }, (_, shard) => newJobId('ocr', shard));
    const heard = new Map(ids.map((id) => [id, [] as string[]]));
    const feed = new RedisJobFeed(redis, redis, (error) => expect.unreachable(String(error)));
    for (const id of ids) feed.watch(id, async (event) => void heard.get(id)?.push(event ?? 'look'));
    await expect
      .poll(() => [...heard.values()].every((events) => events[0] === 'look'), { timeout: 30_000 })
      .toBe(true);
    expect(await pingServers(redis, DEADLINE_MS)).toEqual({ answering: 4, of: 4 });

    await dead?.kill();
    const outcomes = await Promise.allSettled(Array.from({ length: 60 }, (_, i) => redis.set(`k${i}`, 'v')));
    const refused = outcomes.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []));
    expect(refused.length).toBeGreaterThan(0);
    expect(refused.length).toBeLessThan(60);
    expect(refused.filter((error) => !isPassing(error))).toEqual([]);
    expect(await pingServers(redis, DEADLINE_MS)).toEqual({ answering: 3, of: 4 });
    await loadLibrary(redis, library);

    const told = await Promise.all(
      ids.map(async (id, shard) => {
        const { events } = sharedQueueKeys(shardTag('ocr', shard));
        return redis.xadd(events, '*', 'event', 'completed', 'jobId', id).then(
          () => [id],
          () => [],
        );
      }),
    );
    const lively = told.flat();
    expect(lively.length).toBeGreaterThan(0);
    expect(lively.length).toBeLessThan(12);
    for (const id of lively) await expect.poll(() => heard.get(id), { timeout: 30_000 }).toContain('completed');

    const back = new Promise<void>((resolve) => onServer(redis, resolve));
    if (dead) await cluster.revive(dead);
    await expect.poll(() => pingServers(redis, DEADLINE_MS), { timeout: 60_000 }).toEqual({ answering: 4, of: 4 });
    await back;
    const silent = ids.filter((id) => !lively.includes(id));
    await expect.poll(() => silent.every((id) => (heard.get(id)?.length ?? 0) > 1), { timeout: 60_000 }).toBe(true);
    await feed.close();
  });
});

test('a connection to nodes that are not there ends at once, and closes', async () => {
  const link = openConnection({ cluster: [{ host: '127.0.0.1', port: 1 }] }, { name: 'test', deadlineMs: 1000 });
  const error: unknown = await link.get('k').catch((thrown: unknown) => thrown);
  expect(isPassing(error)).toBe(true);
  const ended = new Promise<void>((resolve) => link.once('end', resolve));
  closeConnection(link);
  await ended;
});
