import { setTimeout as pause } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type Capacity, DEFAULT_CAPACITY } from '../../src/model/profile.js';
import { encodeTenant, permitsKey, queuePrefix, scheduleKeys } from '../../src/redis/keys.js';
import { watchScripts } from '../../src/redis/script.js';
import { Shards } from '../../src/redis/shards.js';
import { openTypeSource } from '../../src/shaping/open-type-source.js';
import { typeSettings } from '../../src/shaping/settings.js';
import type { TypeSource } from '../../src/shaping/type-source.js';
import { type Held, type Outcome, WorkSource } from '../../src/shaping/work-source.js';
import { startRedis, type TestRedis } from '../support/redis-server.js';
import { ShapedType } from './shaped-type.js';

const SHARDS = 3;
const DONE: Outcome = { kind: 'completed', value: '1' };
const shards = new Shards(SHARDS);

let server: TestRedis;
let redis: Redis;

beforeAll(async () => {
  server = await startRedis();
  redis = server.client();
});
afterAll(() => server.stop());

/** One tenant of each shard. */
const TENANTS = Array.from({ length: SHARDS }, (_, shard) => {
  let i = 0;
  while (shards.of(`t${i}`) !== shard) i += 1;
  return `t${i}`;
});
const [FIRST = '', SECOND = '', THIRD = ''] = TENANTS;

/** A type of three shards whose capacity may change under way. */
class LimitedType {
  readonly capacity: Record<keyof Capacity, number>;
  readonly type: ShapedType;
  readonly source: TypeSource;

  constructor(limits: Partial<Capacity>) {
    this.capacity = { ...DEFAULT_CAPACITY, ...limits };
    this.type = new ShapedType(redis, { capacity: this.capacity }, SHARDS);
    this.source = this.another();
  }

  static async open(limits: Partial<Capacity>): Promise<LimitedType> {
    const type = new LimitedType(limits);
    await type.source.configure();
    return type;
  }

  /** As another process has it. */
  another(): TypeSource {
    return openTypeSource(redis, this.type.name, this.type.settings, { worker: 'w', lockMs: 30_000 });
  }

  async become(limits: Partial<Capacity>): Promise<void> {
    Object.assign(this.capacity, DEFAULT_CAPACITY, limits);
    await this.source.configure();
  }

  /** Takes up to `most` jobs, until nothing may start. */
  async take(most: number, source = this.source): Promise<Held[]> {
    const taken: Held[] = [];
    while (taken.length < most) {
      const token = source.newToken();
      const found = await source.dispatch(token);
      if (found.kind === 'nothing') break;
      taken.push({ token, tenant: found.tenant, id: found.id });
    }
    return taken;
  }

  async endAll(held: readonly Held[], source = this.source): Promise<void> {
    for (const run of held) await source.settle(run, DONE);
  }

  async running(): Promise<number> {
    const counts = await Promise.all(shards.tags(this.type.name).map((tag) => redis.hlen(scheduleKeys(tag).running)));
    return counts.reduce((sum, count) => sum + count, 0);
  }

  permits(): Promise<number> {
    return redis.hlen(permitsKey(shards.tags(this.type.name)[0] ?? this.type.work.tag));
  }

  /** The locks of these runs run out, as after the death of their worker. */
  async dropLocks(held: readonly Held[]): Promise<void> {
    for (const { tenant, id } of held) {
      const tag = shards.tagOf(this.type.name, tenant);
      await redis.del(`${queuePrefix(tag)}:${encodeTenant(tenant)}:${id}:lock`);
    }
  }
}

/** The shard of a tenant alone. */
function shardSource({ type }: LimitedType, tenant: string): WorkSource {
  const settings = typeSettings(type.settings, type.name);
  const shard = { index: shards.of(tenant), count: SHARDS };
  return new WorkSource(redis, type.name, settings, { worker: 'w', lockMs: 30_000, shard });
}

describe('the concurrency of a type holds over its shards', () => {
  test('however many processes take jobs, and wherever these are', async () => {
    const limited = await LimitedType.open({ concurrency: 4 });
    for (const tenant of TENANTS) await limited.type.fill(tenant, 10);
    const sources = [1, 2, 3].map(() => limited.another());
    const found = await Promise.all(
      sources.flatMap((source) => [1, 2, 3].map(() => source.dispatch(source.newToken()))),
    );
    expect(found.filter(({ kind }) => kind === 'job')).toHaveLength(4);
  });

  test('and all of it is used, at once, by whichever shard has something to do', async () => {
    const limited = await LimitedType.open({ concurrency: 4 });
    for (const tenant of TENANTS) {
      await limited.type.fill(tenant, 6);
      await limited.source.configure(); // Nobody listens to wake-ups here.
      const held = await limited.take(10);
      expect(held.map((run) => run.tenant)).toEqual(Array.from({ length: 4 }, () => tenant));
      await limited.endAll(held);
      await limited.endAll(await limited.take(10));
    }
    expect(await limited.running()).toBe(0);
    expect(await limited.permits()).toBe(0);
  });

  test('a slot that a run leaves goes on with the next job in fair order, of whatever shard', async () => {
    const limited = await LimitedType.open({ concurrency: 2 });
    for (const tenant of TENANTS) await limited.type.fill(tenant, 20);
    let held = await limited.take(5);
    const served: string[] = [];
    for (let i = 0; i < 30; i += 1) {
      const [first, ...rest] = held;
      if (!first) break;
      served.push(first.tenant);
      const token = limited.source.newToken();
      const { next } = await limited.source.settle(first, DONE, token);
      expect(next.kind).toBe('job');
      if (next.kind === 'job') held = [...rest, { token, tenant: next.tenant, id: next.id }];
      expect(await limited.running()).toBe(2);
    }
    const counts = TENANTS.map((tenant) => served.filter((one) => one === tenant).length);
    expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(3);
  });

  test('the slots of a process that died come back with its locks', async () => {
    const limited = await LimitedType.open({ concurrency: 3 });
    for (const tenant of TENANTS) await limited.type.fill(tenant, 5);
    const lost = await limited.take(5, limited.another());
    expect(lost).toHaveLength(3);
    expect(await limited.take(5)).toHaveLength(0);
    await limited.source.recover(1);
    expect(await limited.take(5)).toHaveLength(0);
    await limited.dropLocks(lost);
    // The jobs wait again, but their permits are only given up once nothing can start with them.
    const left = async () => {
      await limited.source.recover(1);
      return limited.permits();
    };
    await expect.poll(left, { interval: 50, timeout: 10_000 }).toBe(0);
    await limited.source.configure();
    expect(await limited.take(5)).toHaveLength(3);
  });
});

describe('the rate of a type holds over its shards', () => {
  test('with its burst, whatever the jobs cost', async () => {
    const limited = await LimitedType.open({ ratePerSecond: 0.01, burst: 4 });
    await limited.type.fill(FIRST, 2);
    await limited.type.fill(SECOND, 2, { cost: 2.5 });
    await limited.type.fill(THIRD, 2);
    const held = await limited.take(10);
    const costs = held.map(({ tenant }) => (tenant === SECOND ? 2.5 : 1));
    const level = costs.reduce((sum, cost) => sum + cost, 0);
    expect(level).toBeGreaterThan(3);
    expect(level).toBeLessThanOrEqual(3 + 2.5);
    const found = await limited.source.dispatch(limited.source.newToken());
    expect(found).toMatchObject({ kind: 'nothing', waitUs: expect.closeTo((level - 3) * 100e6, -7) });
  });

  test('a start that was undone gives back what has not leaked', async () => {
    const limited = await LimitedType.open({ ratePerSecond: 0.01, burst: 1 });
    await limited.type.fill(FIRST, 1);
    await limited.type.fill(SECOND, 1);
    const [run] = await limited.take(5);
    if (!run) throw new Error('nothing started');
    await limited.source.settle(run, { kind: 'busy', value: 'busy', holdMs: 60_000, scope: 'bucket' });
    expect(await limited.take(5)).toHaveLength(1);
  });

  test('a cost that is corrected counts', async () => {
    const limited = await LimitedType.open({ ratePerSecond: 0.01, burst: 1 });
    for (const tenant of TENANTS) await limited.type.fill(tenant, 1);
    const [run] = await limited.take(5);
    if (!run) throw new Error('nothing started');
    expect(await limited.source.charge(run, 3)).toBe(true);
    const wait = async () => await limited.source.dispatch(limited.source.newToken());
    expect(await wait()).toMatchObject({ waitUs: expect.closeTo(300e6, -7) });
    await limited.source.charge(run, 0.5);
    expect(await wait()).toMatchObject({ waitUs: expect.closeTo(50e6, -7) });
  });
});

test('a slot whose run ended while Redis did not hear of it comes back by any process', async () => {
  const limited = await LimitedType.open({ concurrency: 1 });
  await limited.type.fill(FIRST, 2);
  const [held] = await limited.take(1);
  if (!held) throw new Error('nothing started');
  // Whoever settled it died before it could say so.
  await shardSource(limited, held.tenant).settle(held, DONE, undefined, 0);
  const other = limited.another();
  expect(await limited.take(1, other)).toHaveLength(0);
  const left = async () => {
    await other.recover(1);
    return limited.permits();
  };
  await expect.poll(left, { interval: 50, timeout: 10_000 }).toBe(0);
  expect(await limited.take(1, other)).toHaveLength(1);
});

describe('a capacity that changes under way', () => {
  test('counts what runs already, although it began without a permit', async () => {
    const limited = await LimitedType.open({});
    for (const tenant of TENANTS) await limited.type.fill(tenant, 10);
    const held = await limited.take(5);
    expect(await limited.permits()).toBe(0);
    await limited.become({ concurrency: 3 });
    expect(await limited.take(10)).toHaveLength(0);
    await limited.endAll(held.slice(0, 3));
    const [next, ...more] = await limited.take(10);
    expect([next !== undefined, more.length]).toEqual([true, 0]);
    expect(await limited.running()).toBe(3);
  });

  test('holds at once when it falls, and is used at once when it rises', async () => {
    const limited = await LimitedType.open({ concurrency: 4 });
    for (const tenant of TENANTS) await limited.type.fill(tenant, 10);
    const held = await limited.take(10);
    await limited.become({ concurrency: 2 });
    await limited.endAll(held.slice(0, 2));
    expect(await limited.take(10)).toHaveLength(0);
    await limited.become({ concurrency: 7 });
    expect(await limited.take(10)).toHaveLength(5);
    await limited.become({});
    expect(await limited.take(50)).toHaveLength(30 - 4 - 5);
  });

  test('may pause the type and let it go on', async () => {
    const limited = await LimitedType.open({ concurrency: 4 });
    for (const tenant of TENANTS) await limited.type.fill(tenant, 2);
    await limited.become({ ratePerSecond: 0 });
    expect(await limited.take(10)).toHaveLength(0);
    await limited.become({ concurrency: 4 });
    expect(await limited.take(10)).toHaveLength(4);
  });
});

describe('what a start waits for, of a type with a capacity', () => {
  /** The verbs that were answered during the dispatch that found a job, tried until one did, but for looks. */
  async function answeredIn(source: TypeSource): Promise<string[]> {
    for (;;) {
      const verbs: string[] = [];
      watchScripts(redis, (verb) => verbs.push(verb));
      const found = await source.dispatch(source.newToken());
      const answered = verbs.filter((verb) => verb !== 'turn');
      if (found.kind === 'job') return answered;
      await pause((found.waitUs ?? 0) / 1000);
    }
  }
  afterEach(() => watchScripts(redis, () => undefined));

  test('a permit and a dispatch, also where the bucket has just become due by the clock', async () => {
    const limited = await LimitedType.open({ concurrency: 50 });
    limited.type.profiles.set(FIRST, { ratePerSecond: 20, burst: 1 });
    await limited.type.fill(FIRST, 6);
    // Nobody knows yet what is there.
    expect(await answeredIn(limited.source)).toEqual(['dispatch', 'permit', 'dispatch']);
    for (let start = 2; start <= 6; start += 1) {
      expect(await answeredIn(limited.source)).toEqual(['permit', 'dispatch']);
    }
  });

  test('where another process was quicker, no permit is taken before the shard has said that it lacks one', async () => {
    const limited = await LimitedType.open({ concurrency: 50 });
    limited.type.profiles.set(FIRST, { ratePerSecond: 4, burst: 1 });
    await limited.type.fill(FIRST, 3);
    await limited.take(2);
    await answeredIn(limited.another());
    const verbs: string[] = [];
    watchScripts(redis, (verb) => verbs.push(verb));
    expect(await limited.take(1)).toEqual([]);
    expect(verbs).toEqual(['permit', 'dispatch', 'permit']);
    expect(await answeredIn(limited.source)).toEqual(['dispatch', 'permit', 'dispatch']);
  });

  test('not for what others are told of its permit', async () => {
    const limited = await LimitedType.open({ concurrency: 50 });
    await limited.type.fill(FIRST, 2, { cost: 3 });
    await limited.type.fill(FIRST, 1);
    await limited.take(2);
    const costs = async () => {
      const permits = await redis.hvals(permitsKey(shards.tags(limited.type.name)[0] ?? limited.type.work.tag));
      return permits.map((permit) => Number(permit.split(' ')[2])).sort();
    };
    expect(await answeredIn(limited.source)).toEqual(['permit', 'dispatch']);
    expect(await costs()).toEqual([3, 3, 3]);
    await expect.poll(costs).toEqual([1, 3, 3]);
  });
});
