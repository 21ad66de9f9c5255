import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { DEFAULT_CAPACITY } from '../../src/model/profile.js';
import { shardTag, wakeChannel } from '../../src/redis/keys.js';
import { WorkSource } from '../../src/shaping/work-source.js';
import type { Handler } from '../../workers/handler.js';
import { ShapedType } from '../shaping/shaped-type.js';
import { startRedis, type TestRedis } from '../support/redis-server.js';
import { type ServeOptions, serve } from './serving.js';
import { slowAnswers } from './slow-answers.js';

const SETTINGS = { capacity: DEFAULT_CAPACITY, keepResults: { ageMs: 3_600_000, count: 10_000 }, attempts: 3 };

let dir: string;
let server: TestRedis;
let redis: Redis;
let type: ShapedType;
const servers: TestRedis[] = [];
const closing: (() => Promise<void>)[] = [];

async function start(): Promise<TestRedis> {
  const started = await startRedis({ dir, appendonly: true });
  servers.push(started);
  return started;
}
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'hg-pool-'));
  server = await start();
  redis = server.client();
  redis.on('error', () => undefined); // Of the restarts.
  type = new ShapedType(redis);
});
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
  for (const started of servers.splice(0)) await started.stop();
  await rm(dir, { recursive: true });
});

async function served(run: Handler['run'], options: Partial<ServeOptions> = {}) {
  const serving = await serve({
    socketPath: server.socketPath,
    source: (own) => new WorkSource(own, type.name, SETTINGS, { worker: 'w', lockMs: options.lockMs ?? 30_000 }),
    run,
    slots: 4,
    ...options,
  });
  closing.push(() => serving.close());
  return serving;
}

/** A handler whose runs end when they are told to. */
function gated() {
  const open: { id: string; end: (value?: unknown) => void; fail: (error: Error) => void }[] = [];
  const run: Handler['run'] = ({ id }) => new Promise((end, fail) => void open.push({ id, end, fail }));
  return { open, run };
}

const untilAborted: Handler['run'] = (_, { signal }) =>
  new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('stopped'))));

/** However slow the machine is; a quick one goes on at once. */
const PATIENCE = { timeout: 30_000 };

const running = async (): Promise<number> => (await type.shaping.type(type.name)).running;
const stateOf = async (id: string) => (await type.shaping.job('a', id))?.state;

describe('a pool', () => {
  test('takes nothing before that is done which comes before work, whatever it hears', async () => {
    await type.fill('a', 1);
    const { open, run } = gated();
    let seen: number | undefined;
    const beforeWork = async () => {
      while ((await redis.spublish(wakeChannel(shardTag(type.name)), 'wake')) === 0);
      // Whoever goes by what was heard has asked Redis long before it has answered so often.
      for (let answers = 0; answers < 200; answers += 1) await redis.ping();
      seen = await running();
    };
    await served(run, { beforeWork });
    expect(seen).toBe(0);
    await expect.poll(() => open.length, PATIENCE).toBe(1);
    open[0]?.end();
  });

  test('never runs more at once than it has slots, and keeps all of them busy', async () => {
    let [now, most, done] = [0, 0, 0];
    let together: (() => void)[] = [];
    await type.fill('a', 99);
    await served(
      async () => {
        now += 1;
        most = Math.max(most, now);
        // Nobody ends before all slots have a job.
        await new Promise<void>((resolve) => {
          together.push(resolve);
          if (together.length < 3) return;
          for (const end of together) end();
          together = [];
        });
        now -= 1;
        done += 1;
      },
      { slots: 3 },
    );
    await expect.poll(() => done, PATIENCE).toBe(99);
    expect(most).toBe(3);
  });

  test('hears of a job that comes while it is idle, long before it would look by itself', async () => {
    const { open, run } = gated();
    await served(run);
    const [id = ''] = await type.fill('a', 1);
    await expect.poll(() => open.map((each) => each.id)).toEqual([id]);
    open[0]?.end();
  });

  test('comes by itself for a job whose rate or delay lets it start later', async () => {
    type.profiles.set('a', { ratePerSecond: 20 });
    const { ended } = await served(async () => 1);
    const ids = await type.fill('a', 5);
    const [late = ''] = await type.fill('b', 1, { delayMs: 300 });
    await expect.poll(() => ended.length, PATIENCE).toBe(6);
    expect(ended.filter(({ job }) => job.tenant === 'a').map(({ job }) => job.id)).toEqual(ids);
    expect(ended.map(({ job }) => job.id)).toContain(late);
  });

  test('does not spin for a job that is delayed for longer than a timer can be set', async () => {
    const { ended } = await served(async () => 1);
    await type.fill('a', 1, { delayMs: 2 ** 31 + 5 });
    await redis.call('CONFIG', 'RESETSTAT');
    const rounds = 20;
    for (let round = 1; round <= rounds; round += 1) {
      await type.fill('b', 1);
      await expect.poll(() => ended.length, PATIENCE).toBe(round);
    }
    const calls = Number(/cmdstat_fcall:calls=(\d+)/.exec(await redis.info('commandstats'))?.[1]);
    // Each round is admitted, dispatched and settled, and may wake all that are idle.
    expect(calls).toBeLessThan(10 * rounds);
  });

  test('goes by what a job says of its retries', async () => {
    const { ended } = await served(() => Promise.reject(new Error('no good')));
    const backoff = { type: 'fixed', delayMs: 1 } as const;
    const [id = ''] = await type.fill('a', 1, { retries: { attempts: 2, backoff } });
    await expect.poll(() => stateOf(id), PATIENCE).toBe('failed');
    await expect.poll(() => ended.map(({ outcome }) => outcome.kind)).toEqual(['retry', 'failed']);
  });

  test('runs a job with all its attempts again when it is retried by hand', async () => {
    const { ended } = await served(() => Promise.reject(new Error('no good')), { plan: { attempts: 2 } });
    const [id = ''] = await type.fill('a', 1);
    await expect.poll(() => stateOf(id), PATIENCE).toBe('failed');
    expect(await type.shaping.retry('a', id)).toEqual({ verdict: 'retried' });
    await expect.poll(() => ended.length, PATIENCE).toBe(4);
    expect(ended.map(({ job }) => job.attempt)).toEqual([1, 2, 1, 2]);
    expect(await running()).toBe(0);
  });

  test('cancels a run when its job is cancelled', async () => {
    const { pool, ended } = await served(untilAborted);
    const [id = ''] = await type.fill('a', 1);
    await expect.poll(() => pool.running, PATIENCE).toBe(1);
    await type.shaping.cancel('a', id);
    await expect.poll(() => ended.map(({ outcome }) => outcome.kind)).toEqual(['cancelled']);
    expect(await stateOf(id)).toBe('cancelled');
  });

  test('abandons a run that does not hear of its timeout, and its late result does not count', async () => {
    const { open, run } = gated();
    const { ended, errors } = await served(run, { slots: 1, plan: { attempts: 1, timeoutMs: 20, abandonAfterMs: 20 } });
    const [first = '', second = ''] = await type.fill('a', 2);
    await expect.poll(() => open.map(({ id }) => id), PATIENCE).toEqual([first, second]);
    open[0]?.end('late');
    await expect.poll(() => ended.length, PATIENCE).toBe(2);
    open[1]?.fail(new Error('late, too'));
    for (const id of [first, second]) {
      const job = await type.shaping.job('a', id);
      expect(job).toMatchObject({ state: 'failed', error: 'timed out after 20 ms' });
      expect(job).not.toHaveProperty('result', 'late');
    }
    expect([await running(), errors]).toEqual([0, []]);
  });

  test('lets go of a run whose lock is lost, and its result does not count', async () => {
    const { pool, ended } = await served(untilAborted, { lockMs: 150, slots: 1 });
    const [id = ''] = await type.fill('a', 1);
    await expect.poll(() => pool.running, PATIENCE).toBe(1);
    await expect
      .poll(async () => {
        await redis.del(`${type.work.tag}:q:a:${id}:lock`);
        return (await type.work.recover(10)).returnedIds;
      })
      .toEqual([id]);
    await expect.poll(() => ended.length, PATIENCE).toBeGreaterThan(0);
    expect(ended[0]).toMatchObject({ verdict: 'lost', job: { id } });
  });
});

describe('when Redis restarts', () => {
  test('what succeeded meanwhile is a success, and work goes on', async () => {
    const { open, run } = gated();
    const { ended } = await served(run, { slots: 2 });
    const ids = await type.fill('a', 4);
    await expect.poll(() => open.length, PATIENCE).toBe(2);
    await server.kill();
    for (const { end } of open.splice(0)) end('ok');
    server = await start();
    await expect.poll(() => open.length, PATIENCE).toBe(2);
    for (const { end } of open) end('ok');
    await expect.poll(() => ended.length, PATIENCE).toBe(4);
    expect(ended.map(({ verdict, outcome }) => [verdict, outcome.kind])).toEqual(
      Array(4).fill(['settled', 'completed']),
    );
    for (const id of ids)
      expect(await type.shaping.job('a', id)).toMatchObject({ state: 'completed', attemptsMade: 1 });
    expect(await running()).toBe(0);
  });

  test('a handler that tells its progress meanwhile does not fail for it', async () => {
    let reached = (): void => undefined;
    const away = new Promise<void>((resolve) => {
      reached = resolve;
    });
    const { pool, ended } = await served(async (_, { progress }) => {
      await away;
      await progress(0.5);
      return 'ok';
    });
    await type.fill('a', 1);
    await expect.poll(() => pool.running, PATIENCE).toBe(1);
    await server.kill();
    reached();
    server = await start();
    await expect.poll(() => ended.map(({ outcome }) => outcome.kind), PATIENCE).toEqual(['completed']);
  });

  test('a handler that says what its job costs meanwhile is heard afterwards, though it did not wait', async () => {
    let reached = (): void => undefined;
    const away = new Promise<void>((resolve) => {
      reached = resolve;
    });
    const { pool, ended } = await served(async (_, { charge }) => {
      await away;
      for (const cost of [3, 0.5, 7]) void charge(cost);
    });
    const [id = ''] = await type.fill('a', 1);
    await expect.poll(() => pool.running, PATIENCE).toBe(1);
    await server.kill();
    reached();
    server = await start();
    await expect.poll(() => ended.map(({ outcome }) => outcome.kind), PATIENCE).toEqual(['completed']);
    expect(await type.shaping.job('a', id)).toMatchObject({ state: 'completed', cost: 7 });
  });
});

describe('stop()', () => {
  test('waits for what runs and takes nothing more', async () => {
    const { open, run } = gated();
    const { pool, ended } = await served(run, { slots: 1 });
    const [first = '', second = ''] = await type.fill('a', 2);
    await expect.poll(() => open.length, PATIENCE).toBe(1);
    const stopped = pool.stop(60_000);
    open[0]?.end();
    await stopped;
    expect(ended.map(({ job }) => job.id)).toEqual([first]);
    expect([await stateOf(first), await stateOf(second)]).toEqual(['completed', 'waiting']);
    expect([pool.running, await running()]).toEqual([0, 0]);
  });

  test('hands back what still runs after the grace, at the front and without using an attempt', async () => {
    const { pool } = await served(untilAborted, { slots: 1 });
    const [first = ''] = await type.fill('a', 2);
    await expect.poll(() => pool.running, PATIENCE).toBe(1);
    await pool.stop(10);
    expect(await type.shaping.job('a', first)).toMatchObject({
      state: 'waiting',
      promise: { position: 1 },
      attemptsMade: 0,
    });
    expect(await running()).toBe(0);
  });

  test('hands back what its handler does not let go of', async () => {
    const { pool } = await served(() => new Promise(() => undefined));
    const [id = ''] = await type.fill('a', 1);
    await expect.poll(() => pool.running, PATIENCE).toBe(1);
    await pool.stop(10);
    expect(await stateOf(id)).toBe('waiting');
  });

  test('hands back, without running it, what was dispatched meanwhile', async () => {
    const ran: string[] = [];
    const [id = ''] = await type.fill('a', 1);
    const slow = slowAnswers(type.name, SETTINGS, 30_000);
    const { pool, ended } = await served(async (job) => void ran.push(job.id), slow);
    await slow.dispatched;
    const stopped = pool.stop(1000);
    slow.deliver();
    await stopped;
    expect(ran).toEqual([]);
    expect(ended.map(({ outcome }) => outcome.kind)).toEqual(['return']);
    expect([await stateOf(id), await running()]).toEqual(['waiting', 0]);
  });

  test('ends within its bound when Redis is away, with something to bring back', async () => {
    const { open, run } = gated();
    const { pool, ended, errors } = await served(run);
    await type.fill('a', 1);
    await expect.poll(() => open.length, PATIENCE).toBe(1);
    await server.kill();
    const stopped = pool.stop(50);
    open[0]?.end('ok');
    await stopped;
    expect(ended.map(({ verdict }) => verdict)).toEqual(['lost']);
    expect(errors.length).toBe(1);
    expect(pool.running).toBe(0);
  });

  test('ends when Redis is away and nothing runs', async () => {
    const { pool } = await served(async () => 1);
    await server.kill();
    await pool.stop(50);
    expect(pool.running).toBe(0);
  });
});

test('a thousand exits of every kind leave no slot taken', { timeout: 600_000 }, async () => {
  const exits: Record<string, Handler['run']> = {
    done: async () => 1,
    rejects: async () => Promise.reject(new Error('no good')),
    throws: () => {
      throw new Error('no good');
    },
    timeout: untilAborted,
    cancel: untilAborted,
    lost: untilAborted,
  };
  const kinds = Object.keys(exits);
  const { pool, ended, runner } = await served((job, ctx) => exits[String(job.data)]?.(job, ctx), {
    slots: 200,
    plan: { attempts: 1, timeoutMs: 200 },
  });
  const kindOf = new Map<string, string | undefined>();
  pool.on('active', async ({ id }) => {
    const kind = kindOf.get(id);
    if (kind === 'cancel') await type.shaping.cancel('a', id);
    if (kind !== 'lost') return;
    const held = await redis.hgetall(`${type.work.tag}:running`);
    const token = Object.keys(held).find((each) => held[each]?.startsWith(`a ${id} `));
    if (token === undefined) return;
    await redis.del(`${type.work.tag}:q:a:${id}:lock`);
    await type.work.recover(1);
    runner.lose(token);
  });
  type.profiles.set('a', { depth: 10_000 });
  const jobs = Array.from({ length: 1000 * kinds.length }, (_, n) => {
    const kind = kinds[n % kinds.length];
    const job = type.newJob({ data: JSON.stringify(kind) });
    kindOf.set(job.id, kind);
    return job;
  });
  await type.shaping.admit(type.name, 'a', jobs);
  const long = { timeout: 300_000 };
  await expect.poll(async () => (await type.shaping.bucket(type.name, 'a')).waiting, long).toBe(0);
  await expect.poll(() => pool.running, long).toBe(0);
  const exited = (kind: string) => ended.filter(({ job }) => kindOf.get(job.id) === kind).length;
  expect(kinds.filter((kind) => exited(kind) < 1000)).toEqual([]);
  expect(await type.shaping.bucket(type.name, 'a')).toMatchObject({ running: 0, waiting: 0 });
  expect(await running()).toBe(0);
  expect(new Set(ended.map(({ outcome, verdict }) => `${verdict} ${outcome.kind}`))).toEqual(
    new Set(['settled completed', 'settled failed', 'settled cancelled', 'lost failed']),
  );
});
