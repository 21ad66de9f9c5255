import { afterAll, beforeAll, expect, it } from 'vitest';
import { numberField } from '../referee/json-field.js';
import type { Witness } from '../referee/witness.js';
import type { HeadgateProcess } from '../support/headgate-process.js';
import { idOf, type RefereedSystem, refereedSystem } from './support/refereed-system.js';

const INFO = 30;
const EXPIRING = 40;
/** Until each of them has expired, however busy the machine. */
const START_WITHIN_MS = 3000;

let system: RefereedSystem;
let witness: Witness;
const workers: HeadgateProcess[] = [];

const startWorker = async () => {
  const worker = await system.folder.start('work', ['--concurrency', 'a=1', '--health-listen', '0']);
  workers.push(worker);
  return worker;
};

beforeAll(async () => {
  system = await refereedSystem(
    {
      lockDuration: '500ms',
      stalledInterval: '100ms',
      types: { a: {} },
      tiers: { only: { rate: 'unlimited', concurrency: 1 } },
      defaultTier: 'only',
    },
    {
      separateClocks: true,
      types: [{ type: 'a', slots: 2 }],
      buckets: [],
      otherwise: { ratePerSecond: null, concurrency: 1 },
    },
    { arrivalMs: 1500 },
  );
  const [api] = await Promise.all([system.folder.start('serve'), startWorker(), startWorker()]);
  witness = system.witness(api.url);
});
afterAll(async () => system?.end());

/** What all of them logged of jobs with these ids. */
const linesOf = (ids: readonly string[]) =>
  workers
    .flatMap((worker) => ['job expired', 'job failed', 'job completed'].flatMap((message) => worker.said(message)))
    .filter(({ job }) => ids.includes(String(job)));

/** How many jobs of a tenant ended so, as the workers that are there count them. */
async function counted(tenant: string, outcome: string): Promise<number> {
  const counts = workers.map(async (worker) => {
    const port = numberField(worker.said('worker is ready')[0], 'healthPort');
    const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    const labels = `type="a",tenant="${tenant}",outcome="${outcome}"`;
    return Number(new RegExp(`^headgate_jobs_ended_total\\{${labels}\\} (\\d+)`, 'm').exec(text)?.[1] ?? 0);
  });
  return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
}

const startOf = (job: string, times: number) =>
  system.referee.until((trace) => trace.filter((each) => each.kind === 'start' && each.job === job).length >= times);

it('jobs that expire leave one line each, whichever process of several writes it', async () => {
  const blocking = idOf(await witness.enqueue({ type: 'a', tenant: 'late', cost: 1, data: { workMs: 60_000 } }));
  await startOf(blocking, 1);
  const startBy = new Date(Date.now() + START_WITHIN_MS).toISOString();
  const jobs = Array.from({ length: EXPIRING }, () => ({ type: 'a', cost: 1, data: {}, startBy }));
  const ids = (await witness.enqueueBatch('late', jobs)).map(idOf);
  await expect.poll(() => linesOf(ids).length, { timeout: 60_000 }).toBeGreaterThanOrEqual(EXPIRING);
  await witness.cancel('late', blocking);
  await witness.followToEnds();
  expect(new Set(linesOf(ids).map(({ job }) => job))).toEqual(new Set(ids));
  expect(linesOf(ids)).toHaveLength(EXPIRING);
  const [line] = linesOf(ids);
  expect(line).toMatchObject({
    level: INFO,
    tenant: 'late',
    type: 'a',
    outcome: 'expired',
    waitMs: expect.any(Number),
  });
  expect(Number(line?.waitMs)).toBeGreaterThan(0);
  expect(await counted('late', 'expired')).toBe(EXPIRING);
});

it('a job whose workers were killed one after another leaves one line: that it failed, and why', async () => {
  const job = idOf(await witness.enqueue({ type: 'a', tenant: 'deadly', cost: 1, data: { workMs: 600_000 } }));
  for (const times of [1, 2]) {
    await startOf(job, times);
    const spare = await startWorker();
    await Promise.all(workers.filter((worker) => worker !== spare).map((worker) => worker.kill()));
  }
  await expect.poll(() => linesOf([job]).length, { timeout: 60_000 }).toBeGreaterThan(0);
  await witness.followToEnds();
  expect(linesOf([job])).toMatchObject([
    {
      ...{ level: INFO, tenant: 'deadly', type: 'a', outcome: 'failed', reason: 'stalled more than 1 times' },
      ...{ waitMs: expect.any(Number), runMs: expect.any(Number) },
    },
  ]);
  await system.referee.expectNoViolations();
});
