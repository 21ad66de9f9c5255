import type { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { encodeTenant, scheduleKeys } from '../../src/redis/keys.js';
import { Shards } from '../../src/redis/shards.js';
import { openTypeSource } from '../../src/shaping/open-type-source.js';
import type { DispatchedJob } from '../../src/shaping/run-job.js';
import type { TypeSource } from '../../src/shaping/type-source.js';
import type { Held } from '../../src/shaping/work-source.js';
import { startRedis, type TestRedis } from '../support/redis-server.js';
import { ShapedType } from './shaped-type.js';

const SHARDS = 3;
const DONE = { kind: 'completed', value: '1' } as const;
const shards = new Shards(SHARDS);

let server: TestRedis;
let redis: Redis;
let type: ShapedType;

beforeAll(async () => {
  server = await startRedis();
  redis = server.client();
});
afterAll(() => server.stop());
beforeEach(async () => {
  type = new ShapedType(redis, {}, SHARDS);
  await type.source.configure();
});

/** Tenants of which so many stand in each shard. */
function tenantsOf(...counts: readonly number[]): string[] {
  const found = counts.map((): string[] => []);
  for (let i = 0; found.some((those, shard) => those.length < (counts[shard] ?? 0)); i += 1) {
    const those = found[shards.of(`t${i}`)];
    if (those && those.length < (counts[shards.of(`t${i}`)] ?? 0)) those.push(`t${i}`);
  }
  return found.flat();
}

const another = () => openTypeSource(redis, type.name, type.settings, { worker: 'other', lockMs: 30_000 });

async function take(source: TypeSource = type.source, token = source.newToken()): Promise<Held> {
  const found = await source.dispatch(token);
  if (found.kind !== 'job') throw new Error(`nothing for ${found.waitUs} µs`);
  return heldOf(token, found);
}

function heldOf(token: string, { tenant, id }: DispatchedJob): Held {
  return { token, tenant, id };
}

/** Runs so many jobs on `slots` slots of each source, one after another in turn, and answers whose they were. */
async function serve(sources: readonly TypeSource[], slots: number, count: number): Promise<string[]> {
  const served: string[] = [];
  const work = async (source: TypeSource): Promise<void> => {
    let held = await take(source);
    for (;;) {
      served.push(held.tenant);
      if (served.length >= count) return;
      const token = source.newToken();
      const { next } = await source.settle(held, DONE, token);
      if (next.kind !== 'job') return;
      held = heldOf(token, next);
    }
  };
  await Promise.all(sources.flatMap((source) => Array.from({ length: slots }, () => work(source))));
  return served;
}

function countsOf(served: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const tenant of served) counts[tenant] = (counts[tenant] ?? 0) + 1;
  return counts;
}

describe('shards are served as one queue', () => {
  test('tenants get their shares, however unevenly they are spread', async () => {
    const tenants = tenantsOf(1, 2, 7);
    const weights = new Map(tenants.map((tenant, i) => [tenant, i % 3 === 0 ? 2 : 1]));
    for (const tenant of tenants) {
      type.profiles.set(tenant, { weight: weights.get(tenant) ?? 1 });
      await type.fill(tenant, 150);
    }
    const slots = 4;
    const counts = countsOf((await serve([type.source], slots, 700)).slice(0, 700));
    const each = tenants.map((tenant) => (counts[tenant] ?? 0) / (weights.get(tenant) ?? 1));
    // One job of each, and one for each fetch that was under way.
    expect(Math.max(...each) - Math.min(...each)).toBeLessThanOrEqual(2 + slots);
  });

  test('also by several processes, each of which knows only what it was told', async () => {
    const tenants = tenantsOf(1, 2, 7);
    for (const tenant of tenants) await type.fill(tenant, 120);
    const counts = countsOf((await serve([type.source, another(), another()], 2, 800)).slice(0, 800));
    const each = tenants.map((tenant) => counts[tenant] ?? 0);
    expect(Math.max(...each) - Math.min(...each)).toBeLessThanOrEqual(2 + 6);
  });

  test('who comes to a shard in which nothing was ready shares from then on, and does not catch up', async () => {
    const [early = '', late = ''] = tenantsOf(1, 1, 0);
    await type.fill(early, 600);
    await serve([type.source], 1, 200);
    await type.fill(late, 300);
    // Nobody listens to wake-ups here.
    await type.source.configure();
    const counts = countsOf(await serve([type.source], 1, 100));
    expect(Math.abs((counts[late] ?? 0) - 50)).toBeLessThanOrEqual(3);
  });

  test('nothing is left over: every job ends once, and no slot stays taken', async () => {
    const tenants = tenantsOf(2, 2, 2);
    const ids = (await Promise.all(tenants.map((tenant) => type.fill(tenant, 20)))).flat();
    const served = await serve([type.source, another()], 3, Infinity);
    expect(served).toHaveLength(ids.length);
    expect(await type.shaping.type(type.name)).toMatchObject({ running: 0, backloggedBuckets: 0 });
    for (const tag of shards.tags(type.name)) expect(await redis.hlen(scheduleKeys(tag).running)).toBe(0);
  });
});

describe('a repetition after a lost reply', () => {
  test('of a dispatch takes the job that the first one took, in whatever shard', async () => {
    for (const tenant of tenantsOf(1, 1, 1)) await type.fill(tenant, 2);
    const token = type.source.newToken();
    const held = await take(type.source, token);
    const other = another();
    expect(await other.holds(token)).toBe(true);
    expect(await take(other, token)).toEqual(held);
  });

  test('of a settle answers the same, and takes no second job', async () => {
    for (const tenant of tenantsOf(1, 1, 1)) await type.fill(tenant, 3);
    const held = await take();
    const token = type.source.newToken();
    const first = await type.source.settle(held, DONE, token);
    await type.source.holds(token);
    const again = await type.source.settle(held, DONE, token);
    expect(again.verdict).toBe('settled');
    expect(again.next).toMatchObject({ id: first.next.kind === 'job' ? first.next.id : '' });
    expect((await type.shaping.type(type.name)).running).toBe(1);
  });
});

describe('what is asked of a run goes to its own shard', () => {
  test('its lock, its progress, its output, its cost', async () => {
    const tenants = tenantsOf(1, 1, 1);
    for (const tenant of tenants) await type.fill(tenant, 1);
    const runs = [await take(), await take(), await take()];
    expect(new Set(runs.map(({ tenant }) => tenant)).size).toBe(3);
    expect(await type.source.renew(runs)).toEqual({ lostTokens: [], cancelRequestedIds: [] });
    for (const run of runs) {
      expect(await type.source.progress(run, '7')).toBe(true);
      expect(await type.source.emit(run, 1, ['"x"'])).toBe('stored');
      expect(await type.source.charge(run, 2)).toBe(true);
      expect(await type.shaping.job(run.tenant, run.id)).toMatchObject({ state: 'active', progress: 7 });
    }
  });

  test('jobs of dead workers come back in every shard', async () => {
    const tenants = tenantsOf(1, 1, 1);
    for (const tenant of tenants) await type.fill(tenant, 1);
    const runs = [await take(), await take(), await take()];
    for (const { tenant, id } of runs)
      await redis.del(`${shards.tagOf(type.name, tenant)}:q:${encodeTenant(tenant)}:${id}:lock`);
    const { returnedIds } = await type.source.recover(1);
    expect(returnedIds.sort()).toEqual(runs.map(({ id }) => id).sort());
  });

  test('a busy upstream of the type holds all shards', async () => {
    for (const tenant of tenantsOf(1, 1, 1)) await type.fill(tenant, 2);
    const held = await take();
    const busy = { kind: 'busy', value: 'busy', holdMs: 60_000, scope: 'type' } as const;
    const { verdict, next } = await type.source.settle(held, busy, type.source.newToken());
    expect([verdict, next.kind]).toEqual(['settled', 'nothing']);
    expect((await another().dispatch('w#1')).kind).toBe('nothing');
  });
});

test('a tenant’s debts are forgiven once nothing is ready and nothing runs in any shard', async () => {
  const [heavy = '', light = ''] = tenantsOf(1, 1, 0);
  type.profiles.set(heavy, { weight: 0.01 });
  await type.fill(heavy, 1, { cost: 100 });
  await type.source.settle(await take(), DONE);
  await type.source.sweep(() => undefined);
  await type.fill(heavy, 2);
  await type.fill(light, 50);
  await type.source.configure();
  expect((await serve([type.source], 1, 3)).includes(heavy)).toBe(true);
});

test('data that is spread over another number of shards is refused by name, and nothing is written', async () => {
  const settings = { ...type.settings, shards: new Shards(2) };
  const before = await redis.dbsize();
  await expect(openTypeSource(redis, type.name, settings, { worker: 'w', lockMs: 1000 }).configure()).rejects.toThrow(
    `the data of type "${type.name}" in Redis is spread over 3 shards, and the configuration says shards: 2; the number is fixed once there is data`,
  );
  expect(await redis.dbsize()).toBe(before);
});

test('ends that nobody saw are told by whoever sweeps, in whatever shard, and once', async () => {
  const tenants = tenantsOf(1, 1, 1);
  for (const tenant of tenants) {
    type.profiles.set(tenant, { concurrency: 1 });
    await type.fill(tenant, 1);
  }
  await type.source.configure();
  const held = [await take(), await take(), await take()];
  for (const tenant of tenants) await type.fill(tenant, 1, { startByMs: Date.now() + 1000 });
  const told: string[] = [];
  const sweep = () =>
    type.source.sweep((ends) => told.push(...ends.map(({ job, ending }) => `${job.tenant} ${ending}`)));
  await expect
    .poll(
      async () => {
        await type.source.configure();
        await type.source.dispatch(type.source.newToken());
        await Promise.all([sweep(), sweep()]);
        return told.toSorted();
      },
      { timeout: 30_000 },
    )
    .toEqual(tenants.map((tenant) => `${tenant} expired`).toSorted());
  await sweep();
  expect(told).toHaveLength(3);
  for (const each of held) await type.source.settle(each, DONE);
});

test('a tenant that went quiet leaves nothing behind, in whatever shard', async () => {
  const brief = new ShapedType(redis, { keepResults: { ageMs: 0, count: 0 } }, SHARDS);
  await brief.source.configure();
  const before = (await redis.keys(`{hg:${brief.name}:*`)).length;
  for (const tenant of tenantsOf(1, 1, 1)) {
    brief.profiles.set(tenant, { weight: 0.1 });
    await brief.fill(tenant, 2, { cost: 10 });
  }
  for (let ran = 0; ran < 6; ran += 1) {
    const token = brief.source.newToken();
    const found = await brief.source.dispatch(token);
    if (found.kind === 'job') await brief.source.settle(heldOf(token, found), DONE);
  }
  const left = async () => {
    await brief.source.sweep(() => undefined);
    return (await redis.keys(`{hg:${brief.name}:*`)).filter((key) => /:(bucket|q|results)/.test(key));
  };
  await expect.poll(left, { timeout: 30_000, interval: 200 }).toEqual([]);
  expect((await redis.keys(`{hg:${brief.name}:*`)).length).toBeLessThanOrEqual(before + 2 * SHARDS);
});

test('an idle pool asks each shard now and then, and not more often', async () => {
  const asked: number[] = [];
  for (let at = 0; at < 20; at += 1) {
    const found = await type.source.dispatch(type.source.newToken());
    if (found.kind === 'nothing') asked.push(found.waitUs ?? Infinity);
  }
  // The first went through all of them; the others knew.
  expect(Math.min(...asked)).toBeGreaterThan(0);
  expect(Math.max(...asked)).toBeLessThanOrEqual(5_000_000);
  const { calls = '' } = /cmdstat_fcall:calls=(?<calls>\d+)/.exec(await redis.info('commandstats'))?.groups ?? {};
  await type.source.dispatch(type.source.newToken());
  const again = /cmdstat_fcall:calls=(?<calls>\d+)/.exec(await redis.info('commandstats'))?.groups?.calls;
  expect(again).toBe(calls);
});
