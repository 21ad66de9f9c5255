import { afterAll, beforeAll, expect, it } from 'vitest';
import { textField } from '../referee/json-field.js';
import type { Trace } from '../referee/trace.js';
import type { Witness } from '../referee/witness.js';
import type { HeadgateProcess } from '../support/headgate-process.js';
import { idOf, type RefereedSystem, refereedSystem } from './support/refereed-system.js';
import { runningOf } from './support/running-jobs.js';

const KILLS = 1000;
const SLOTS = 250;
/** Each may be killed twice, and some end before their worker is killed; all come before anybody knows how long they take. */
const JOBS = 2000;
/** A machine so slow that many end before their worker is killed needs more of them. */
const MOST_WORKERS = 12;

let system: RefereedSystem;
let api: HeadgateProcess;
let witness: Witness;

beforeAll(async () => {
  system = await refereedSystem(
    {
      lockDuration: '3s',
      stalledInterval: '500ms',
      types: { a: { keepResults: { count: 100_000 } } },
      tiers: { only: { rate: 'unlimited', depth: 10_000 } },
      defaultTier: 'only',
    },
    {
      separateClocks: true,
      types: [{ type: 'a', slots: SLOTS }],
      buckets: [],
      otherwise: { ratePerSecond: null, depth: 10_000 },
    },
    // A worker killed between a dispatch and its handler's call makes that job's first start one of the next worker's.
    { arrivalMs: 380_000 },
  );
  api = await system.folder.start('serve');
  witness = system.witness(api.url);
}, 120_000);
afterAll(async () => system?.end());

const startWorker = () => system.folder.start('work', ['--types', 'a', '--concurrency', `a=${SLOTS}`]);
const count = (trace: Trace, kind: 'start' | 'gone') => trace.filter((event) => event.kind === kind).length;
const startedJobs = (trace: Trace) => trace.flatMap((event) => (event.kind === 'start' ? [event.job] : []));
/** Whether a job runs that ran before: with as many starts as jobs, none does. */
const hasRunAgain = (trace: Trace) => startedJobs(trace).length > new Set(startedJobs(trace)).size;

it('a thousand runs that end by kill -9 of their worker leave no slot taken', { timeout: 380_000 }, async () => {
  const { referee } = system;
  const jobs = Array.from({ length: JOBS / 2 }, () => ({ type: 'a', cost: 1, data: { workMs: 5000 } }));
  const ids = [...(await witness.enqueueBatch('one', jobs)), ...(await witness.enqueueBatch('one', jobs))].map(idOf);
  for (let workers = 0; count(await referee.trace(), 'gone') < KILLS; workers += 1) {
    expect(workers).toBeLessThan(MOST_WORKERS);
    const before = await referee.trace();
    const worker = await startWorker();
    await referee.until((trace) => count(trace, 'start') - count(before, 'start') >= SLOTS);
    // However quick the machine is, some are killed twice.
    if (workers === 1) await referee.until(hasRunAgain);
    await worker.kill();
    await referee.until((trace) => count(trace, 'gone') > count(before, 'gone'));
  }
  await startWorker();
  await witness.followToEnds();

  await expect.poll(() => runningOf(system, api.url, 'a')).toBe(0);
  const ends = await Promise.all(ids.map(async (id) => (await witness.look('one', id)).body));
  const stalled = ends.filter((end) => textField(end, 'state') === 'failed').map((end) => textField(end, 'error'));
  expect(new Set(stalled)).toEqual(new Set(['stalled more than 1 times']));
  expect(ends.filter((end) => textField(end, 'state') === 'completed')).toHaveLength(ids.length - stalled.length);
  await referee.expectNoViolations();
});
