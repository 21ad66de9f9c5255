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

/** How many jobs were under way at once, at most, among those of the type that started after `skip` others. */
function mostAtOnce(trace: readonly TraceEvent[], type: string, skip: number): number {
  const runs = new Set(startsOf(trace, type).map(({ run }, i) => (i < skip ? undefined : run)));
  let [underWay, most] = [0, 0];
  for (const event of trace) {
    if ((event.kind !== 'start' && event.kind !== 'end') || !runs.has(event.run)) continue;
    underWay += event.kind === 'start' ? 1 : -1;
    most = Math.max(most, underWay);
  }
  return most;
}

describe('the capacity of types that are spread over three shards', () => {
  it('is used as a whole while the load moves from shard to shard, and never exceeded', async () => {
    const sampling = sampleRunning(system, api.url, 'slots', []);
    await Promise.all([enqueue('slots', FIRST, 8, WORK_MS), enqueue('paced', SECOND, 60, 0)]);
    await Promise.all([startsSeen('slots', 8), startsSeen('paced', 50)]);
    await Promise.all([enqueue('slots', THIRD, 8, WORK_MS), enqueue('paced', FIRST, 60, 0)]);
    await Promise.all([startsSeen('slots', 16), startsSeen('paced', 120)]);
    await witness.followToEnds(60_000);
    await sampling.stop();
    // Of each shard's jobs as many ran at once as the type may have in all.
    const trace = await system.referee.trace();
    expect([mostAtOnce(trace, 'slots', 0), mostAtOnce(trace, 'slots', 8)]).toEqual([CAP, CAP]);
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
    await enqueue('slots', SECOND, CAP, 2 * WORK_MS);
    await witness.followToEnds(60_000);
    expect(mostAtOnce(await system.referee.trace(), 'slots', before)).toBe(CAP);
    await system.referee.expectNoViolations();
  });
});
