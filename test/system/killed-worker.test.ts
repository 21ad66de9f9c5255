import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isEnd } from '../referee/job-ends.js';
import { textField } from '../referee/json-field.js';
import type { Witness } from '../referee/witness.js';
import type { HeadgateProcess } from '../support/headgate-process.js';
import { type RefereedSystem, refereedSystem } from './support/refereed-system.js';
import { runningOf, sampleRunning } from './support/running-jobs.js';

const TYPE_CAP = 3;
const BUCKET_CAP = 2;
const DEPTH = 15;
const WAVE = 20;
const TENANTS = ['one', 'two', 'three'];
const WORK_MS = 100;

let system: RefereedSystem;
let api: HeadgateProcess;
let workers: HeadgateProcess[];
let witness: Witness;

beforeAll(async () => {
  const terms = { ratePerSecond: null, depth: DEPTH, concurrency: BUCKET_CAP };
  system = await refereedSystem(
    {
      lockDuration: '500ms',
      stalledInterval: '100ms',
      types: { a: { capacity: { concurrency: TYPE_CAP } } },
      tiers: { only: { rate: 'unlimited', depth: DEPTH, concurrency: BUCKET_CAP } },
      defaultTier: 'only',
    },
    {
      separateClocks: true,
      types: [{ type: 'a', slots: 4, capacity: { concurrency: TYPE_CAP } }],
      buckets: [],
      otherwise: terms,
    },
    { arrivalMs: 500 },
  );
  api = await system.folder.start('serve');
  workers = await Promise.all([1, 2].map(() => system.folder.start('work', ['--types', 'a', '--concurrency', 'a=2'])));
  witness = system.witness(api.url);
});
afterAll(async () => system?.end());

/** More than fits into the bucket of each tenant, from several callers at once. */
async function postWave(): Promise<void> {
  const batch = (tenant: string, count: number) =>
    witness.enqueueBatch(
      tenant,
      Array.from({ length: count }, () => ({ type: 'a', cost: 1, data: { workMs: WORK_MS } })),
    );
  await Promise.all(TENANTS.flatMap((tenant) => [batch(tenant, WAVE / 2), batch(tenant, WAVE / 2)]));
}

const startsSeen = (atLeast: number) =>
  system.referee.until((trace) => trace.filter(({ kind }) => kind === 'start').length >= atLeast);

describe('a worker killed with kill -9 in the middle of a backlog', () => {
  it('loses no job, leaks no slot and breaks no cap', async () => {
    const { referee } = system;
    const [victim, survivor] = workers;
    if (victim === undefined || survivor === undefined) throw new Error('two workers were started');
    const sampling = sampleRunning(system, api.url, 'a', TENANTS);

    await postWave();
    await startsSeen(12);
    await victim.kill();
    await postWave();
    await startsSeen(36);
    await postWave();
    await witness.followToEnds(60_000);
    await sampling.stop();

    const trace = await referee.trace();
    const startsOf = new Map<string, number>();
    for (const event of trace) {
      if (event.kind === 'start') startsOf.set(event.job, (startsOf.get(event.job) ?? 0) + 1);
    }
    // The type's cap is one above the survivor's slots: the victim had one job or two, which ran again.
    const again = [...startsOf.values()].filter((count) => count > 1).length;
    expect(again).toBeGreaterThanOrEqual(1);
    expect(survivor.said('jobs of a worker that is gone were taken back').length).toBeGreaterThanOrEqual(1);
    const ends = trace.flatMap((event) => (event.kind === 'sight' && isEnd(event.state) ? [event.state] : []));
    expect(ends.length).toBeGreaterThan(2 * DEPTH);
    expect(new Set(ends)).toEqual(new Set(['completed']));
    expect(await runningOf(system, api.url, 'a')).toBe(0);

    const verdict = await referee.expectNoViolations();
    const judged = (guarantee: string) => verdict.judgements.find((each) => each.guarantee === guarantee)?.judged ?? 0;
    expect(judged('G7')).toBeGreaterThan(verdict.seen.starts);
    expect(verdict.seen.refused).toBeGreaterThan(0);
  });

  it('is followed by a new one, which finds a system at rest', async () => {
    workers.push(await system.folder.start('work', ['--types', 'a', '--concurrency', 'a=2']));
    const answer = await witness.enqueue({ type: 'a', tenant: 'one', cost: 1 });
    await witness.followToEnds();
    const { body } = await witness.look('one', textField(answer.body, 'id') ?? '');
    expect(textField(body, 'state')).toBe('completed');
    await system.referee.expectNoViolations();
  });
});
