import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Shards } from '../../src/redis/shards.js';
import { isEnd } from '../referee/job-ends.js';
import type { TraceEvent } from '../referee/trace.js';
import type { Witness } from '../referee/witness.js';
import type { HeadgateProcess } from '../support/headgate-process.js';
import { type RefereedSystem, refereedSystem } from './support/refereed-system.js';
import { runningOf, sampleRunning } from './support/running-jobs.js';

const shards = new Shards(3);
const CAP = 4;
const RATE = 20;
const DEPTH = 200;
const WORK_MS = 1500;
/** What a machine that does other things, too, may be late by without losing any of the rate. */
const SLACK_MS = 250;

/** A tenant of each shard. */
const [FIRST = '', SECOND = '', THIRD = ''] = [0, 1, 2].map((shard) =>
  ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k'].find((tenant) => shards.of(tenant) === shard),
);

let system: RefereedSystem;
let api: HeadgateProcess;
let workers: HeadgateProcess[];
let witness: Witness;

beforeAll(async () => {
  system = await refereedSystem(
    {
      shards: shards.count,
      lockDuration: '2s',
      stalledInterval: '200ms',
      types: {
        slots: { capacity: { concurrency: CAP } },
        paced: { capacity: { rate: `${RATE}/s`, burst: 1 }, slack: `${SLACK_MS}ms` },
      },
      tiers: { only: { rate: 'unlimited', depth: DEPTH, concurrency: 'unlimited' } },
      defaultTier: 'only',
    },
    {
      separateClocks: true,
      types: [
        { type: 'slots', slots: CAP, spread: true, capacity: { concurrency: CAP } },
        { type: 'paced', slots: 2 * CAP, spread: true, capacity: { ratePerSecond: RATE, burst: 1 }, slackMs: SLACK_MS },
      ],
      buckets: [],
      otherwise: { ratePerSecond: null, depth: DEPTH },
    },
    { arrivalMs: 500, lateMs: 500 },
  );
  api = await system.folder.start('serve');
  // Either of the two could use all of the capacity alone.
  workers = await Promise.all([1, 2].map(() => startWorker()));
  witness = system.witness(api.url);
});
afterAll(async () => system?.end());

const startWorker = () =>
  system.folder.start('work', ['--types', 'slots,paced', '--concurrency', `slots=${CAP},paced=${CAP}`]);

const enqueue = (type: string, tenant: string, count: number, workMs: number) =>
  witness.enqueueBatch(
    tenant,
    Array.from({ length: count }, () => ({ type, cost: 1, data: { workMs } })),
  );

const startsOf = (trace: readonly TraceEvent[], type: string) =>
  trace.flatMap((event) => (event.kind === 'start' && event.type === type ? [event] : []));

const startsSeen = (type: string, atLeast: number) =>
  system.referee.until((trace) => startsOf(trace, type).length >= atLeast, 60_000);

/** Which part of the slots was used from the first instant at which all were until the last start. */
function usedPart(trace: readonly TraceEvent[], type: string): number {
  const starts = startsOf(trace, type);
  const endOf = new Map(trace.flatMap((event) => (event.kind === 'end' ? [[event.run, event.at] as const] : [])));
  const [from, to] = [starts[CAP - 1]?.at ?? 0, starts.at(-1)?.at ?? 0];
  const used = starts.map(({ run, at }) => Math.max(0, Math.min(endOf.get(run) ?? to, to) - Math.max(at, from)));
  return used.reduce((sum, part) => sum + part, 0) / (CAP * (to - from));
}

describe('the capacity of types that are spread over three shards', () => {
  it('is used as a whole while the load moves from shard to shard, and never exceeded', async () => {
    const sampling = sampleRunning(system, api.url, 'slots', []);
    await Promise.all([enqueue('slots', FIRST, 8, WORK_MS), enqueue('paced', SECOND, 60, 0)]);
    await Promise.all([startsSeen('slots', 6), startsSeen('paced', 50)]);
    await Promise.all([enqueue('slots', THIRD, 8, WORK_MS), enqueue('paced', FIRST, 60, 0)]);
    await Promise.all([startsSeen('slots', 16), startsSeen('paced', 120)]);

    const trace = await system.referee.trace();
    const paced = startsOf(trace, 'paced');
    const tookMs = (paced.at(-1)?.at ?? 0) - (paced[0]?.at ?? 0);
    expect((paced.length - 1) / (tookMs / 1000)).toBeGreaterThanOrEqual(0.95 * RATE);
    expect(usedPart(trace, 'slots')).toBeGreaterThanOrEqual(0.95);
    await witness.followToEnds(60_000);
    await sampling.stop();
    await system.referee.expectNoViolations();
  });

  it('holds, and loses nothing, when a worker is killed with kill -9 in the middle of it', async () => {
    const [victim] = workers;
    const before = startsOf(await system.referee.trace(), 'slots').length;
    const sampling = sampleRunning(system, api.url, 'slots', []);
    await Promise.all(
      [FIRST, SECOND, THIRD].flatMap((tenant) => [enqueue('slots', tenant, 8, 100), enqueue('paced', tenant, 10, 0)]),
    );
    await startsSeen('slots', before + 6);
    await victim?.kill();
    await witness.followToEnds(60_000);
    await sampling.stop();

    const trace = await system.referee.trace();
    const ends = trace.flatMap((event) => (event.kind === 'sight' && isEnd(event.state) ? [event.state] : []));
    expect(new Set(ends)).toEqual(new Set(['completed']));
    expect(await runningOf(system, api.url, 'slots')).toBe(0);
    await system.referee.expectNoViolations();
  });

  it('is whole again afterwards', async () => {
    const before = startsOf(await system.referee.trace(), 'slots').length;
    await enqueue('slots', SECOND, CAP, WORK_MS);
    await expect.poll(() => runningOf(system, api.url, 'slots'), { interval: 50, timeout: 20_000 }).toBe(CAP);
    await startsSeen('slots', before + CAP);
    await witness.followToEnds(60_000);
    await system.referee.expectNoViolations();
  });
});
