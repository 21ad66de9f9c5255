import type { Redis } from 'ioredis';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { closeConnection, openConnection, untilReady } from '../../src/redis/connection.js';
import { shardTag } from '../../src/redis/keys.js';
import { PermitDesk } from '../../src/shaping/permit-desk.js';
import { RedisShaping } from '../../src/shaping/redis-shaping.js';
import { typeSettings } from '../../src/shaping/settings.js';
import { TypeSource } from '../../src/shaping/type-source.js';
import { WorkSource } from '../../src/shaping/work-source.js';
import { startRedis, type TestRedis } from '../support/redis-server.js';
import { ShapedType } from './shaped-type.js';

/** A type whose two shards are on a server each, as on a cluster. */
let servers: TestRedis[];
let links: Redis[];

beforeEach(async () => {
  servers = [await startRedis({ appendonly: true }), await startRedis()];
  links = servers.map(({ socketPath }) => openConnection({ socketPath }, { name: 'test', deadlineMs: 20_000 }));
  await Promise.all(links.map((link) => untilReady(link)));
});
afterEach(async () => {
  for (const link of links) closeConnection(link);
  for (const server of servers) await server.stop();
});

async function open(areApart: boolean) {
  const [link, otherLink] = links;
  if (!link || !otherLink) throw new Error('there are two servers');
  const type = new ShapedType(link, {}, 2);
  const { shards } = type.settings;
  const tenants = [0, 1].map((shard) => ['a', 'b', 'c', 'd', 'e', 'f'].find((each) => shards.of(each) === shard) ?? '');
  const sources = links.map((each, index) => {
    const options = { worker: 'w', lockMs: 30_000, shard: { index, count: 2 } };
    return new WorkSource(each, type.name, typeSettings(type.settings, type.name), options);
  });
  const permits = new PermitDesk(link, shardTag(type.name), typeSettings(type.settings, type.name), sources);
  const source = new TypeSource(sources, permits, areApart);
  await source.configure();
  for (const [shard, tenant] of tenants.entries()) {
    const shaping = new RedisShaping(shard === 0 ? link : otherLink, type.settings);
    await shaping.admit(type.name, tenant, [type.newJob({}, tenant), type.newJob({}, tenant)]);
  }
  const take = async () => {
    const found = await source.dispatch(source.newToken());
    return found.kind === 'job' ? found.tenant : 'nothing';
  };
  return { source, tenants, take };
}

test('while a server is away those of the other are served, and its own again when it is back', async () => {
  const { source, tenants, take } = await open(true);
  const [away, there] = tenants;
  await servers[0]?.kill();
  expect([await take(), await take(), await take()]).toEqual([there, there, 'nothing']);
  const { returnedIds, endedIds } = await source.recover(1);
  expect([returnedIds, endedIds]).toEqual([[], []]);
  await source.sweep(() => undefined);

  const [dead] = servers;
  if (dead) servers.unshift(await startRedis({ dir: dead.dir, appendonly: true }));
  await expect.poll(take).toBe(away);
});

test('when all are away that is an outage', async () => {
  const { take } = await open(true);
  for (const server of servers) await server.kill();
  await expect(take()).rejects.toThrow();
});

test('shards that are all on one server are not told apart: one that fails is asked again before others are', async () => {
  const { take } = await open(false);
  await servers[0]?.kill();
  await expect(take()).rejects.toThrow();
});
