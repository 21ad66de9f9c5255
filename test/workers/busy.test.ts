import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { DEFAULT_CAPACITY } from '../../src/model/profile.js';
import { WorkSource } from '../../src/shaping/work-source.js';
import { type Handler, UpstreamBusy } from '../../workers/handler.js';
import { ShapedType } from '../shaping/shaped-type.js';
import { startRedis, type TestRedis } from '../support/redis-server.js';
import { type ServeOptions, serve } from './serving.js';

let dir: string;
let server: TestRedis;
let redis: Redis;
const closing: (() => Promise<void>)[] = [];
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'hg-busy-'));
  server = await startRedis({ dir });
  redis = server.client();
});
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});
afterAll(async () => {
  await server.stop();
  await rm(dir, { recursive: true });
});

async function served(type: ShapedType, run: Handler['run'], options: Partial<ServeOptions> = {}) {
  const settings = { capacity: DEFAULT_CAPACITY, keepResults: { ageMs: 3_600_000, count: 10_000 }, attempts: 3 };
  const serving = await serve({
    socketPath: server.socketPath,
    source: (own) => new WorkSource(own, type.name, settings, { worker: 'w', lockMs: 30_000 }),
    run,
    slots: 4,
    ...options,
  });
  closing.push(() => serving.close());
  return serving;
}

/** A handler that finds its upstream busy the first `times` that it looks for a tenant `busy`; and when each run began. */
function upstream(times: number, holdMs: number, scope: 'bucket' | 'type') {
  const began: { tenant: string; atMs: number }[] = [];
  let turnedAway = 0;
  const run: Handler['run'] = async ({ tenant, attempt }) => {
    began.push({ tenant, atMs: performance.now() });
    if (tenant === 'busy' && turnedAway < times) {
      turnedAway += 1;
      throw new UpstreamBusy(holdMs, { scope });
    }
    return { attempt };
  };
  return { run, of: (tenant: string) => began.filter((each) => each.tenant === tenant).map(({ atMs }) => atMs) };
}

const PATIENCE = { timeout: 30_000 };
const HOLD_MS = 400;

/** Starts that come sooner after the one before than the hold lasts. Redis counts a hold from the settle, which is later. */
const tooSoon = (atMs: readonly number[]) => atMs.filter((at, i) => i > 0 && at - (atMs[i - 1] ?? 0) < HOLD_MS);

describe('a handler whose upstream is busy twice', () => {
  test('holds its bucket alone, starts again after each hold, and succeeds at its first attempt', async () => {
    const type = new ShapedType(redis);
    const { run, of } = upstream(2, HOLD_MS, 'bucket');
    const { ended } = await served(type, run);
    const [id = ''] = await type.fill('busy', 1);
    await expect.poll(() => ended.map(({ outcome }) => outcome.kind), PATIENCE).toEqual(['busy']);
    // The bucket of another tenant goes on meanwhile.
    await type.fill('other', 50);
    await expect.poll(() => of('other').length, PATIENCE).toBe(50);
    await expect.poll(async () => (await type.shaping.job('busy', id))?.state, PATIENCE).toBe('completed');
    const job = await type.shaping.job('busy', id);
    expect(job).toMatchObject({ result: { attempt: 1 }, attemptsMade: 1 });
    expect(of('busy')).toHaveLength(3);
    expect(tooSoon(of('busy'))).toEqual([]);
    expect((await type.shaping.type(type.name)).running).toBe(0);
  });

  test('holds the whole type where it says so', async () => {
    const type = new ShapedType(redis);
    const { run, of } = upstream(1, HOLD_MS, 'type');
    const { ended } = await served(type, run);
    await type.fill('busy', 1);
    await expect.poll(() => ended.length, PATIENCE).toBe(1);
    await type.fill('other', 3);
    await expect.poll(() => of('other').length, PATIENCE).toBe(3);
    await expect.poll(() => of('busy').length, PATIENCE).toBe(2);
    const [first = 0] = of('busy');
    expect(Math.min(...of('other'), ...of('busy').slice(1)) - first).toBeGreaterThanOrEqual(HOLD_MS);
  });
});

test('a day-long wait is cut, and an upstream that is always busy uses up the attempts in the end', async () => {
  const type = new ShapedType(redis);
  const { run } = upstream(Infinity, 24 * 3_600_000, 'bucket');
  const { ended } = await served(type, run, { plan: { maxHoldMs: 1, maxReturns: 3, attempts: 2 } });
  const [id = ''] = await type.fill('busy', 1);
  await expect.poll(async () => (await type.shaping.job('busy', id))?.state, PATIENCE).toBe('failed');
  const kinds = () => ended.map(({ outcome }) => outcome.kind);
  await expect.poll(kinds, PATIENCE).toEqual(['busy', 'busy', 'busy', 'retry', 'failed']);
});

describe('what a handler says of its cost', () => {
  test('is there when its run has ended, whether or not it waits for that', async () => {
    const type = new ShapedType(redis);
    type.profiles.set('a', { ratePerSecond: 0.1 });
    await served(type, async (_, ctx) => {
      for (const cost of [2, 90, 7]) void ctx.charge(cost);
      return 1;
    });
    const [id = '', next = ''] = await type.fill('a', 2, { cost: 3 });
    await expect.poll(async () => (await type.shaping.job('a', id))?.state, PATIENCE).toBe('completed');
    const { level } = await type.shaping.bucket(type.name, 'a');
    expect(level).toBeGreaterThan(3);
    expect(level).toBeLessThanOrEqual(7);
    const waitMs = Number((await type.shaping.job('a', next))?.promise?.waitMs);
    expect(waitMs).toBeGreaterThan(30_000);
    expect(waitMs).toBeLessThanOrEqual(70_000);
  });

  test('fails the attempt when it is no cost', async () => {
    const type = new ShapedType(redis);
    const { ended } = await served(type, async (_, ctx) => void ctx.charge(Number.NaN), { plan: { attempts: 1 } });
    await type.fill('a', 1);
    await expect
      .poll(() => ended.map(({ outcome }) => outcome.value), PATIENCE)
      .toEqual(['charge: expected a cost from 0.001 to 10000 units; got NaN']);
  });
});
