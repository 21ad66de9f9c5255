import type { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { DELIVERY_TYPE, deliveryProfile, deliveryType } from '../../src/config/delivery-type.js';
import { outboxKey, shardTag } from '../../src/redis/keys.js';
import { RedisFull } from '../../src/redis/outage.js';
import { ONE_SHARD } from '../../src/redis/shards.js';
import { type Delivery, deliveryJob, messageId, type OutboxEntry } from '../../src/shaping/delivery.js';
import { type Dropped, Outbox } from '../../src/shaping/outbox.js';
import { RedisShaping } from '../../src/shaping/redis-shaping.js';
import { WorkSource } from '../../src/shaping/work-source.js';
import { loadText } from '../config/loading.js';
import { startRedis, type TestRedis } from '../support/redis-server.js';
import { ShapedType } from './shaped-type.js';

const WEBHOOK = { url: 'https://hooks.example/', events: ['completed', 'failed'] } as const;

let server: TestRedis;
let redis: Redis;
let type: ShapedType;
let shaping: RedisShaping;
let deliveries: WorkSource;
let dropped: Dropped[];
let depth: number;

beforeAll(async () => {
  server = await startRedis();
  redis = server.client();
});
afterAll(() => server.stop());
beforeEach(async () => {
  await server.flush();
  const { webhooks } = await loadText('types: {}\n');
  type = new ShapedType(redis);
  [dropped, depth] = [[], webhooks.depth];
  const { capacity, keepResults, attempts } = deliveryType(webhooks);
  const own = { capacity, keepResults, attempts };
  const settings = {
    ...type.settings,
    type: (name: string) => (name === DELIVERY_TYPE ? own : type.settings.type(name)),
    profile: (name: string, tenant: string) =>
      name === DELIVERY_TYPE ? deliveryProfile({ ...webhooks, depth }) : type.settings.profile(name, tenant),
  };
  shaping = new RedisShaping(redis, settings);
  deliveries = new WorkSource(redis, DELIVERY_TYPE, own, { worker: 'w', lockMs: 30_000 });
  await type.work.configure();
  await deliveries.configure();
});

const outbox = (admit = shaping.admit.bind(shaping)) =>
  new Outbox(redis, ONE_SHARD, { admit }, (drop) => dropped.push(drop));
const left = () => redis.xlen(outboxKey(shardTag(type.name)));

/** Ends so many jobs of a tenant, each with its place as the result; their ids. */
async function end(tenant: string, count: number): Promise<string[]> {
  const ids = await type.fill(tenant, count, { webhook: WEBHOOK });
  for (const i of ids.keys()) await type.runOne({ kind: 'completed', value: String(i) });
  return ids;
}

/** Takes the next delivery: its tenant, its id and what it carries. */
async function taken(): Promise<{ tenant: string; id: string } & Delivery> {
  const found = await deliveries.dispatch(deliveries.newToken());
  if (found.kind !== 'job') throw new Error('there is no delivery');
  return { tenant: found.tenant, id: found.id, ...JSON.parse(found.fields.get('data') ?? '') };
}

describe('what stands in an outbox', () => {
  test('becomes deliveries in the buckets of its tenants, in the order of the ends, and is gone', async () => {
    const ids = [...(await end('a', 2)), ...(await end('b', 1))];
    await outbox().drain(type.name);
    expect(await left()).toBe(0);
    const found = [await taken(), await taken(), await taken()].toSorted((x, y) => x.tenant.localeCompare(y.tenant));
    expect(found.map(({ tenant, url, body }) => [tenant, url, JSON.parse(body).data.id])).toEqual(
      ids.map((id, i) => [i < 2 ? 'a' : 'b', WEBHOOK.url, id]),
    );
  });

  test('becomes the same deliveries however often and by however many that is done', async () => {
    await end('a', 230);
    const [one, other] = [outbox(), outbox()];
    await Promise.all([one.drain(type.name), other.drain(type.name), one.drain(type.name)]);
    expect(await shaping.bucket(DELIVERY_TYPE, 'a')).toMatchObject({ waiting: 230 });
    expect(await left()).toBe(0);
    expect(dropped).toEqual([]);
  });

  test('survives whoever dies after the delivery is made: it is made once', async () => {
    await end('a', 1);
    const dies = outbox(async (...call) => {
      await shaping.admit(...call);
      throw new Error('died');
    });
    await expect(dies.drain(type.name)).rejects.toThrow('died');
    expect(await left()).toBe(1);
    await outbox().drain(type.name);
    expect(await left()).toBe(0);
    expect(await shaping.bucket(DELIVERY_TYPE, 'a')).toMatchObject({ waiting: 1 });
  });

  test('stays there while Redis has no room', async () => {
    const [first] = await end('a', 3);
    const full = outbox(async (name, tenant, jobs) => shaping.admit(name, tenant, jobs.slice(0, 1)));
    await full.drain(type.name);
    expect(await left()).toBe(2);
    const none = outbox(async () => Promise.reject(new RedisFull('full')));
    await expect(none.drain(type.name)).rejects.toThrow(RedisFull);
    expect(await left()).toBe(2);
    expect((await taken()).body).toContain(first);
    await outbox().drain(type.name);
    expect(await left()).toBe(0);
    expect(await shaping.bucket(DELIVERY_TYPE, 'a')).toMatchObject({ waiting: 2 });
  });

  test('is dropped where too many deliveries of the tenant wait, which is told, and nobody else loses any', async () => {
    depth = 2;
    const ids = await end('a', 3);
    await end('b', 1);
    await outbox().drain(type.name);
    expect(dropped).toEqual([{ tenant: 'a', type: type.name, id: ids[2], ending: 'completed' }]);
    expect(await left()).toBe(0);
    expect(await shaping.bucket(DELIVERY_TYPE, 'b')).toMatchObject({ waiting: 1 });
  });
});

describe('a delivery', () => {
  const entry: OutboxEntry = {
    ...{ entryId: '1796032497123-0', type: 'chat', tenant: 'ä b', id: 'j.chat.0', ending: 'completed', bytes: 9 },
    ...{ atMs: Date.UTC(2026, 10, 30, 12), mark: 'cf', value: '{"n":1e400,"7":0.10}' },
  };
  const bodyOf = (change: Partial<OutboxEntry>): string => JSON.parse(deliveryJob({ ...entry, ...change }).data).body;

  test('carries the result as the handler gave it, number by number', () => {
    expect(bodyOf({})).toBe(
      '{"type":"job.completed","timestamp":"2026-11-30T12:00:00.000Z",' +
        '"data":{"id":"j.chat.0","type":"chat","tenant":"ä b","state":"completed","result":{"n":1e400,"7":0.10}}}',
    );
  });

  test('carries an error as a text, and of what is too large its size', () => {
    const data = (change: Partial<OutboxEntry>) => JSON.parse(bodyOf(change)).data;
    expect(data({ ending: 'failed', value: 'no "good"\n' })).toMatchObject({ state: 'failed', error: 'no "good"\n' });
    expect(data({ ending: 'failed', value: '', bytes: 0 })).toMatchObject({ error: '' });
    expect(data({ value: '', bytes: 20_000 })).toMatchObject({ resultBytes: 20_000 });
    expect(data({ ending: 'failed', value: '', bytes: 20_000 })).toMatchObject({ errorBytes: 20_000 });
  });

  test('goes to the URL of its job, else to none of its own', () => {
    const urlOf = (mark: string) => JSON.parse(deliveryJob({ ...entry, mark }).data).url;
    expect([urlOf('cf'), urlOf('cf https://x.example/a')]).toEqual([null, 'https://x.example/a']);
  });

  test('has one id for one end, and another for any other', () => {
    const { id } = deliveryJob(entry);
    expect(deliveryJob(entry).id).toBe(id);
    expect(id).toMatch(/^01[0-9a-hjkmnp-tv-z]{24}\.headgate\.webhook\.0$/);
    expect(messageId(id)).toBe(`msg_${id.slice(0, 26)}`);
    const others = [{ entryId: '1796032497123-1' }, { type: 'ocr' }, { id: 'k.chat.0' }, { ending: 'failed' }];
    const ids = others.map((change) => deliveryJob({ ...entry, ...change }).id);
    expect(new Set([id, ...ids]).size).toBe(5);
  });
});
