import { type AddressInfo, connect } from 'node:net';
import { fastify } from 'fastify';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { KnownBuckets } from '../../src/dashboard/known-buckets.js';
import { Outlet } from '../../src/dashboard/outlet.js';
import { Reader, type ReaderOptions, type Wanted, type Watcher } from '../../src/dashboard/reader.js';
import { RedisUnavailable } from '../../src/redis/outage.js';
import type { SurveyedBucket } from '../../src/shaping/bucket-survey.js';
import { eventually } from '../support/eventually.js';
import { bucket } from './support/buckets.js';

/** A world of buckets by tenant, and what was asked of it. */
function world(tenants: readonly string[], waiting = 1) {
  const buckets = new Map(tenants.map((tenant) => [tenant, waiting]));
  const asked: string[][] = [];
  const survey = {
    tenants: async (_type: string, cursor: string | undefined, limit: number) => {
      const active = [...buckets].filter(([, each]) => each > 0).map(([tenant]) => tenant);
      const from = Number(cursor?.slice(1) ?? 0);
      const next = from + limit;
      return { tenants: active.slice(from, next), cursor: next < active.length ? `r${next}` : undefined };
    },
    buckets: async (_type: string, names: readonly string[]): Promise<readonly SurveyedBucket[]> => {
      asked.push([...names]);
      return names.map((tenant) => bucket({ tenant, waiting: buckets.get(tenant) ?? 0 }));
    },
  };
  return { buckets, asked, survey };
}

const many = (count: number) => Array.from({ length: count }, (_, i) => `t${i}`);

describe('the buckets of a type', () => {
  test('are walked a few at a time, and all of them are met in turn', async () => {
    const { survey, asked } = world(many(1000));
    const known = new KnownBuckets(survey, 'ocr');
    // The first walk is faster.
    for (let i = 0; i < 3; i += 1) await known.read(new Set(), 100);
    expect(new Set(known.all.map(({ tenant }) => tenant)).size).toBe(1000);
    expect(asked.map((each) => each.length)).toEqual([500, 500, 100]);
  });

  test('that are wanted are read every time', async () => {
    const { survey, asked } = world(many(1000));
    const known = new KnownBuckets(survey, 'ocr');
    for (let i = 0; i < 3; i += 1) await known.read(new Set(['t999', 'nobody']), 100);
    for (const each of asked) expect(each).toEqual(expect.arrayContaining(['t999', 'nobody']));
    expect(known.get('nobody')).toMatchObject({ waiting: 0 });
  });

  test('are forgotten once they are quiet, a walk later', async () => {
    const { survey, buckets } = world(many(10));
    const known = new KnownBuckets(survey, 'ocr');
    await known.read(new Set(), 100);
    for (const tenant of many(8)) buckets.set(tenant, 0);
    for (let i = 0; i < 3; i += 1) await known.read(new Set(), 100);
    expect(known.all.map(({ tenant }) => tenant).toSorted()).toEqual(['t8', 't9']);
  });

  test('are kept in mind up to ten thousand', async () => {
    const { survey } = world(many(10_500));
    const known = new KnownBuckets(survey, 'ocr');
    for (let i = 0; i < 6; i += 1) await known.read(new Set(), 2000);
    expect(known.all).toHaveLength(10_000);
  });
});

const readers: (() => void)[] = [];
afterEach(() => {
  for (const leave of readers.splice(0)) leave();
  vi.useRealTimers();
});

function reader(parts: Partial<ReaderOptions> = {}) {
  const { survey, asked } = world(many(5));
  const errors: unknown[] = [];
  const made = new Reader({
    survey,
    typeNames: () => ['ocr'],
    type: async (type) => ({
      type,
      capacity: { ratePerSecond: 20, burst: 1, concurrency: 4 },
      ...{ backloggedBuckets: 5, readyBuckets: 0, running: 1, servedPerSecond: 2, meanRunMs: null, scarceForMs: null },
    }),
    doorCounts: async () => ({ beganAtMs: 0, slotMs: 5000, slots: [] }),
    waits: async () => [],
    onError: (error) => errors.push(error),
    ...parts,
  });
  const readings: boolean[] = [];
  const page = (wanted: Partial<Wanted> = {}): Watcher => ({
    wanted: () => ({ all: true, buckets: [], opened: [], ...wanted }),
    onReading: (isUp) => void readings.push(isUp),
  });
  const watch = (watcher: Watcher) => {
    const leave = made.watch(watcher);
    readers.push(leave);
    return leave;
  };
  return { made, asked, errors, readings, page, watch };
}

describe('the reader', () => {
  test('reads once for all pages, and rests when there are none', async () => {
    vi.useFakeTimers();
    const { watch, page, readings, asked } = reader();
    const leave = [watch(page()), watch(page()), watch(page())];
    await vi.advanceTimersByTimeAsync(500);
    expect([readings, asked.length]).toEqual([[true, true, true], 1]);
    await vi.advanceTimersByTimeAsync(1000);
    expect([readings.length, asked.length]).toEqual([6, 2]);
    for (const each of leave) each();
    await vi.advanceTimersByTimeAsync(10_000);
    expect(asked).toHaveLength(2);
  });

  test('keeps the history of the types from its start, without a page and without a look at buckets', async () => {
    vi.useFakeTimers({ now: 1_800_000_001_000 });
    let admitted = 0;
    const slot = () => ({ admitted, refused: 0, refusedOf: new Map() });
    const { made, asked, watch, page } = reader({
      doorCounts: async (_, slots) => ({
        beganAtMs: 0,
        slotMs: 5000,
        slots: Array.from({ length: slots > 3 ? 1 : slots }, slot),
      }),
    });
    made.start();
    for (let step = 0; step < 13; step += 1) {
      await vi.advanceTimersByTimeAsync(5000);
      admitted += 10;
    }
    expect(asked).toEqual([]);
    const { points = [] } = made.types.get('ocr')?.history ?? {};
    expect(points.map(([at]) => at)).toEqual(Array.from({ length: 12 }, (_, i) => 1_800_000_000_000 + i * 5000));
    // Nobody counts what waits; that runs is known.
    expect(points.at(-1)?.slice(4)).toEqual([null, 1]);

    const leave = watch(page());
    await vi.advanceTimersByTimeAsync(7000);
    expect(asked.length).toBeGreaterThan(4);
    expect(points.at(-1)?.slice(4)).toEqual([5, 1]);
    leave();
    const [looks, steps] = [asked.length, points.length];
    await vi.advanceTimersByTimeAsync(20_000);
    expect([asked.length, points.length]).toEqual([looks, steps + 4]);

    made.stop();
    await vi.advanceTimersByTimeAsync(20_000);
    expect(points).toHaveLength(steps + 4);
  });

  test('glances at few types, and goes on after Redis was away', async () => {
    vi.useFakeTimers();
    let isAway = false;
    let calls = 0;
    const { made, errors } = reader({
      typeNames: () => Array.from({ length: 30 }, (_, i) => `type${i}`),
      doorCounts: async () => {
        calls += 1;
        if (isAway) throw new RedisUnavailable();
        return { beganAtMs: 0, slotMs: 5000, slots: [] };
      },
    });
    made.start();
    await vi.advanceTimersByTimeAsync(5000);
    expect(calls).toBe(10);
    isAway = true;
    await vi.advanceTimersByTimeAsync(5000);
    isAway = false;
    await vi.advanceTimersByTimeAsync(5000);
    expect([calls, errors]).toEqual([30, []]);
    made.stop();
  });

  test('tells pages when Redis is away, and when it is there again', async () => {
    let isAway = true;
    const { watch, page, readings, errors, made } = reader({
      waits: async () => [],
      doorCounts: async () => {
        if (isAway) throw new RedisUnavailable('down');
        return { beganAtMs: 0, slotMs: 5000, slots: [] };
      },
    });
    watch(page());
    await eventually(() => expect(readings).toEqual([false]));
    isAway = false;
    await eventually(() => expect(readings).toEqual([false, true]));
    expect([errors, made.isUp]).toEqual([[], true]);
  });

  test('goes on after what nobody foresaw, and says it', async () => {
    const { watch, page, readings, errors } = reader({ type: async () => Promise.reject(new Error('unforeseen')) });
    watch(page());
    await eventually(() => expect(readings).toEqual([false, false]));
    expect(errors.map(String)).toEqual(['Error: unforeseen', 'Error: unforeseen']);
  });

  test('looks at nobody else’s buckets for a tenant’s page', async () => {
    const { watch, page, readings, asked } = reader();
    const own = [{ type: 'ocr', tenant: 't3' }];
    watch(page({ all: false, buckets: own, opened: own }));
    await eventually(() => expect(readings).toEqual([true]));
    expect(asked).toEqual([['t3']]);
  });
});

describe('a page’s outlet', () => {
  test('closes on a page that takes less than it is told', () => {
    const outlet = new Outlet(60_000, ':\n\n', 100);
    outlet.send('x'.repeat(60));
    expect(outlet.stream.destroyed).toBe(false);
    outlet.send('x'.repeat(60));
    expect(outlet.stream.destroyed).toBe(true);
    outlet.send('x');
  });

  test('goes on for one that takes everything', async () => {
    const outlet = new Outlet(60_000, ':\n\n', 100);
    const taken: string[] = [];
    outlet.stream.on('data', (bytes) => taken.push(String(bytes)));
    for (let i = 0; i < 20; i += 1) {
      outlet.send('x'.repeat(60));
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect([taken.join('').length, outlet.stream.destroyed]).toEqual([1200, false]);
    outlet.end();
    await new Promise((resolve) => outlet.stream.once('end', resolve));
    outlet.send('late');
  });

  test('closes the connection of a page that reads nothing', async () => {
    const outlet = new Outlet(60_000, ':\n\n');
    const app = fastify();
    const closed = new Promise<void>((resolve) => {
      app.get('/', async (_request, reply) => {
        reply.raw.once('close', resolve);
        return reply.send(outlet.stream);
      });
    });
    await app.listen({ host: '127.0.0.1', port: 0 });
    const { port } = app.server.address() as AddressInfo;
    const page = connect(port, '127.0.0.1', () => page.write('GET / HTTP/1.1\r\nhost: h\r\n\r\n'));
    page.pause();
    outlet.send('x');
    while (!outlet.stream.destroyed) {
      outlet.send('x'.repeat(64 * 1024));
      await new Promise((resolve) => setImmediate(resolve));
    }
    await closed;
    page.destroy();
    await app.close();
  });

  test('is never silent for longer than it may', async () => {
    const outlet = new Outlet(5, ':\n\n');
    const taken: string[] = [];
    outlet.stream.on('data', (bytes) => taken.push(String(bytes)));
    await eventually(() => expect(taken.join('')).toMatch(/^(:\n\n){3,}$/));
    outlet.stream.destroy();
  });
});
