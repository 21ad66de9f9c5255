import { describe, expect, test } from 'vitest';
import { redisForTests } from './redis-for-tests.js';
import { EPOCH_MS, type ScriptShard } from './script-shard.js';

const redis = redisForTests();
const completed = { kind: 'completed', value: '1' } as const;

test.each<{ state: string; arrange: (shard: ScriptShard) => Promise<unknown> }>([
  { state: 'waiting', arrange: async () => undefined },
  { state: 'active', arrange: (shard) => shard.take('t1') },
  {
    state: 'completed',
    arrange: async (shard) => {
      await shard.take('t1');
      await shard.settle({ token: 't1', tenant: 'a', id: 'j1' }, completed);
    },
  },
  { state: 'failed', arrange: (shard) => shard.cancel('a', 'j1') },
])('a job is $state', async ({ state, arrange }) => {
  const shard = redis.shard();
  await shard.admit('a', [{ id: 'j1' }]);
  await arrange(shard);
  const found = await shard.read('a', 'j1');
  expect(found?.state).toBe(state);
  expect(found?.unixMs).toBe(EPOCH_MS + shard.nowUs / 1000);
});

test("nobody reads another tenant's job, or one that there is not", async () => {
  const shard = redis.shard();
  await shard.admit('a', [{ id: 'j1' }]);
  expect(await shard.read('b', 'j1')).toBeUndefined();
  expect(await shard.read('a', 'j2')).toBeUndefined();
});

describe('where a waiting job stands and when it starts', () => {
  test('is the promise of its admission for as long as nothing comes between', async () => {
    const shard = redis.shard();
    const costs = [1, 4, 0.25, 2, 7, 1];
    const priorities = [4, 4, 1, 9, 1, 0];
    const batch = costs.map((cost, i) => ({ id: `j${i}`, cost, priority: priorities[i] ?? 4 }));
    for (const job of batch) await shard.admit('a', [job], { ratePerSecond: 2, burst: 2 });
    const order = ['j5', 'j2', 'j4', 'j0', 'j1', 'j3'];
    expect(await shard.waiting('a')).toEqual(order);
    let cost = 0;
    for (const [i, id] of order.entries()) {
      const waitUs = Math.max(0, (cost - 1) * 500_000);
      expect(await shard.read('a', id)).toMatchObject({ position: i + 1, waitUs, basis: 'rate', approximate: false });
      cost += costs[Number(id.slice(1))] ?? 0;
    }
  });

  test('is exact by rank where every job costs 1, however many there are', async () => {
    const shard = redis.shard();
    const batch = Array.from({ length: 300 }, (_, i) => ({ id: `j${String(i).padStart(3, '0')}` }));
    await shard.admit('a', batch, { ratePerSecond: 10 });
    expect(await shard.read('a', 'j299', 5)).toMatchObject({ position: 300, waitUs: 29_900_000, approximate: false });
  });

  test('is estimated from the first so many where costs differ, and says so', async () => {
    const shard = redis.shard();
    const batch = Array.from({ length: 40 }, (_, i) => ({ id: `j${String(i).padStart(3, '0')}`, cost: i % 2 ? 3 : 1 }));
    await shard.admit('a', batch, { ratePerSecond: 1 });
    expect(await shard.read('a', 'j039', 100)).toMatchObject({ waitUs: 77_000_000, approximate: false });
    expect(await shard.read('a', 'j039', 4)).toMatchObject({ position: 40, waitUs: 78_000_000, approximate: true });
  });

  test('moves up as those before it start, end or are cancelled', async () => {
    const shard = redis.shard();
    await shard.admit('a', [{ id: 'j1' }, { id: 'j2', cost: 5 }, { id: 'j3' }], { ratePerSecond: 1 });
    expect(await shard.read('a', 'j3')).toMatchObject({ position: 3, waitUs: 6_000_000 });
    await shard.take('t1');
    expect(await shard.read('a', 'j3')).toMatchObject({ position: 2, waitUs: 6_000_000 });
    await shard.cancel('a', 'j2');
    expect(await shard.read('a', 'j3')).toMatchObject({ position: 1, waitUs: 1_000_000 });
    shard.nowUs += 400_000;
    expect(await shard.read('a', 'j3')).toMatchObject({ position: 1, waitUs: 600_000 });
  });

  test('lateness within the slack does not move the jobs behind', async () => {
    const shard = redis.shard();
    await shard.admit('a', [{ id: 'j1' }, { id: 'j2' }, { id: 'j3' }], { ratePerSecond: 1 });
    await shard.take('t1');
    shard.nowUs += 1_100_000;
    expect(await shard.read('a', 'j2')).toMatchObject({ waitUs: 0 });
    expect(await shard.read('a', 'j3')).toMatchObject({ waitUs: 900_000 });
    shard.nowUs += 400_000;
    expect(await shard.read('a', 'j3')).toMatchObject({ waitUs: 750_000 });
  });
});

test('a delayed job starts no earlier than it falls due', async () => {
  const shard = redis.shard();
  await shard.admit('a', [{ id: 'd', delayMs: 80 }]);
  expect(await shard.read('a', 'd')).toMatchObject({ state: 'delayed', position: 0, waitUs: 80_000, basis: 'delay' });
  shard.nowUs += 100_000;
  expect(await shard.read('a', 'd')).toMatchObject({ state: 'delayed', waitUs: 0 });
});

describe('where workers are scarce, the start that a read gives goes by what was measured', () => {
  const SERVICE_US = 200_000;
  const FREE = { ratePerSecond: Infinity };
  const many = (tenant: string, count: number) =>
    Array.from({ length: count }, (_, i) => ({ id: `${tenant}${100 + i}` }));

  /** One slot, that serves five a second of two tenants for a while; the job in the middle of what waits of one. */
  async function scarce() {
    const shard = redis.shard();
    let run = { token: 't0', tenant: 'a', id: 'a100' };
    let tokens = 0;
    const serve = async (count: number) => {
      for (let i = 0; i < count; i += 1) {
        shard.nowUs += SERVICE_US;
        tokens += 1;
        const token = `t${tokens}`;
        const { next } = await shard.settle(run, { kind: 'completed', value: '1' }, token);
        if (next.kind !== 'job') throw new Error('nothing to run');
        run = { token, tenant: next.tenant, id: next.id };
      }
    };
    for (const tenant of ['a', 'b']) await shard.admit(tenant, many(tenant, 300), FREE);
    await shard.dispatch(run.token);
    await serve(300);
    const waitOf = async (id: string) => {
      const found = await shard.read('a', id);
      expect(found).toMatchObject({ state: 'waiting', basis: 'capacity' });
      expect(found?.between?.earliestUs).toBeLessThanOrEqual(found?.waitUs ?? Number.NaN);
      expect(found?.between?.latestUs).toBeGreaterThanOrEqual(found?.waitUs ?? Number.NaN);
      return (found?.waitUs ?? Number.NaN) / SERVICE_US;
    };
    return { shard, serve, waitOf };
  }
  /** What a wait is, counted in service times. */
  const expectAbout = (wait: number, turns: number) => {
    expect(wait).toBeGreaterThan(0.8 * turns);
    expect(wait).toBeLessThan(1.25 * turns);
  };

  test('and comes nearer as jobs before it are served', async () => {
    const { serve, waitOf } = await scarce();
    // Fifty of its tenant wait before it, and as many of the other one are served meanwhile.
    expectAbout(await waitOf('a300'), 100);
    await serve(60);
    expectAbout(await waitOf('a300'), 40);
  });

  test('moves away as another tenant comes, and back as that one is cancelled', async () => {
    const { shard, waitOf } = await scarce();
    await shard.admit('c', many('c', 100), FREE);
    // Of a wait of so many starts, by the weights of what is ready now.
    expectAbout(await waitOf('a300'), 150);
    for (const { id } of many('c', 100)) await shard.cancel('c', id);
    expectAbout(await waitOf('a300'), 100);
  });

  test('moves as its tenant’s weight is changed', async () => {
    const { shard, waitOf } = await scarce();
    await shard.retime('a', { ...FREE, weight: 3 });
    // Three of four starts are its tenant's.
    expectAbout(await waitOf('a300'), (50 * 4) / 3);
  });
});
