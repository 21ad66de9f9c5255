import type { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { KNOWN_TYPES } from '../../src/redis/keys.js';
import { ForsakenTypes } from '../../src/shaping/forsaken-types.js';
import type { Settings } from '../../src/shaping/settings.js';
import type { UnseenEnd } from '../../src/shaping/unseen-end.js';
import { startRedis, type TestRedis } from '../support/redis-server.js';
import { ShapedType } from './shaped-type.js';

const AFTER_MS = 600_000;

let server: TestRedis;
let redis: Redis;
let type: ShapedType;
let nowMs: number;
let told: UnseenEnd[];
let drained: string[];

beforeAll(async () => {
  server = await startRedis();
  redis = server.client();
});
afterAll(() => server.stop());
beforeEach(async () => {
  await server.flush();
  nowMs = 0;
  told = [];
  drained = [];
  type = new ShapedType(redis, {}, 2);
  await type.source.configure();
  await watcher(type.settings).look();
});

/** One who looks, of a process with these settings. */
function watcher(settings: Settings): ForsakenTypes {
  return new ForsakenTypes(redis, settings, {
    afterMs: AFTER_MS,
    clock: () => nowMs,
    onUnseen: (ends) => told.push(...ends),
    drain: async (name) => void drained.push(name),
  });
}

/** Settings from which the type was taken. */
const withoutIt = (): Settings => ({ ...type.settings, type: () => undefined, typeNames: () => [] });

test('what waits in a type that nobody serves any more fails with a reason, and keeps its payload', async () => {
  const ids = [
    ...(await type.fill('a', 250)),
    ...(await type.fill('b', 1, { delayMs: 3_600_000 })),
    ...(await type.fill('paused', 1, { data: '{"kept":1}' })),
  ];
  const gone = watcher(withoutIt());
  await gone.look();
  nowMs += AFTER_MS - 1;
  await gone.look();
  expect(told).toEqual([]);
  nowMs += 1;
  await gone.look();
  const reason = `no process serves the type "${type.name}" any more: it is not configured`;
  expect(told.map(({ job }) => job.id).toSorted()).toEqual(ids.toSorted());
  expect(new Set(told.map((end) => `${end.ending}: ${end.reason}`))).toEqual(new Set([`failed: ${reason}`]));
  expect(drained).toEqual([type.name]);
  const [last = ''] = ids.slice(-1);
  expect(await type.shaping.job('paused', last)).toMatchObject({ state: 'failed', error: reason, attemptsMade: 0 });
  // Its process knows the type again.
  expect(await type.shaping.retry('paused', last)).toMatchObject({ verdict: 'retried' });
});

test('a type that somebody serves is left alone, whatever this process knows', async () => {
  await type.fill('a', 1);
  const gone = watcher(withoutIt());
  for (let looks = 0; looks < 5; looks += 1) {
    await gone.look();
    nowMs += AFTER_MS;
    // As an idle worker of it does every few seconds.
    await type.source.sweep(() => undefined);
  }
  expect(told).toEqual([]);
});

test('jobs of its last worker are taken back, and a type of which nothing is left is known no more', async () => {
  const brief = new ShapedType(redis, { keepResults: { ageMs: 0, count: 0 } }, 2);
  await brief.source.configure();
  await watcher(brief.settings).look();
  expect(await redis.smembers(KNOWN_TYPES)).toContain(brief.name);
  const gone = watcher({
    ...withoutIt(),
    type: (name) => (name === brief.name ? undefined : type.settings.type(type.name)),
  });
  await gone.look();
  nowMs += AFTER_MS;
  await gone.look();
  expect(await redis.smembers(KNOWN_TYPES)).not.toContain(brief.name);
});

test('data of another version is not touched', async () => {
  const [id = ''] = await type.fill('a', 1);
  for (const tag of type.settings.shards.tags(type.name)) await redis.hset(`${tag}:type`, 'format', '999');
  const gone = watcher(withoutIt());
  await gone.look();
  nowMs += AFTER_MS;
  await gone.look();
  expect(told).toEqual([]);
  expect((await type.shaping.job('a', id))?.state).toBe('waiting');
});
