import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { isEnd } from '../referee/job-ends.js';
import { numberField } from '../referee/json-field.js';
import type { Witness } from '../referee/witness.js';
import type { HeadgateProcess } from '../support/headgate-process.js';
import { idOf, type RefereedSystem, refereedSystem } from './support/refereed-system.js';
import { runningOf } from './support/running-jobs.js';

const RATED = { rate: 4, jobs: 40 };

let system: RefereedSystem;
let api: HeadgateProcess;
let workers: HeadgateProcess[];
let witness: Witness;

const startWorker = () => system.folder.start('work', ['--types', 'a', '--concurrency', 'a=2']);

beforeAll(async () => {
  system = await refereedSystem(
    {
      // A new worker on a busy machine may be silent for more than a second.
      lockDuration: '5s',
      stalledInterval: '200ms',
      types: { a: { keepResults: { count: 100_000 } } },
      tiers: { only: { rate: 'unlimited', burst: 1 } },
      tenants: { rated: { rate: `${RATED.rate}/s` } },
      defaultTier: 'only',
    },
    {
      separateClocks: true,
      types: [{ type: 'a', slots: 2 }],
      buckets: [{ type: 'a', tenant: 'rated', ratePerSecond: RATED.rate, depth: 1000 }],
      otherwise: { ratePerSecond: null, depth: 1000 },
    },
    { arrivalMs: 1500, lateMs: 500 },
  );
  [api, ...workers] = await Promise.all([system.folder.start('serve'), startWorker(), startWorker()]);
}, 120_000);
// Each follows its own jobs alone.
beforeEach(() => {
  witness = system.witness(api.url);
});
afterAll(async () => system?.end());

/** How many runs of each of these jobs were seen. */
async function runsOf(ids: readonly string[]): Promise<number[]> {
  const counts = new Map(ids.map((id) => [id, 0]));
  for (const event of await system.referee.trace()) {
    if (event.kind === 'start' && counts.has(event.job)) counts.set(event.job, (counts.get(event.job) ?? 0) + 1);
  }
  return [...counts.values()];
}

const startsSeen = (tenant: string, atLeast: number) =>
  system.referee.until(
    (trace) => trace.filter((event) => event.kind === 'start' && event.tenant === tenant).length >= atLeast,
    60_000,
  );

async function post(tenant: string, count: number, data: object = {}): Promise<string[]> {
  const jobs = Array.from({ length: count }, () => ({ type: 'a', cost: 1, data }));
  return (await witness.enqueueBatch(tenant, jobs)).map(idOf);
}

describe('a worker that is told to leave with SIGTERM', () => {
  it('takes nothing more, finishes what it runs, and leaves with code 0', async () => {
    const leaving = workers.shift();
    const ids = await post('leaving', 8, { workMs: 1000 });
    await startsSeen('leaving', 4);
    const ended = await leaving?.stop();
    expect(ended).toEqual({ code: 0, signal: null });
    const [told] = leaving?.said('worker takes nothing more') ?? [];
    expect(numberField(told, 'running')).toBe(2);
    const lines = leaving?.lines ?? [];
    const after = lines.slice(lines.findIndex((line) => line.includes('worker takes nothing more')));
    expect(after.filter((line) => line.includes('job completed'))).toHaveLength(2);
    await witness.followToEnds();
    expect(await runsOf(ids)).toEqual(Array(8).fill(1));
  });

  it('is replaced, one after the other, while jobs come and go: each runs once', async () => {
    const ids: string[] = [];
    let rolling = true;
    const feeding = (async () => {
      while (rolling) {
        ids.push(...(await post('rolling', 10, { workMs: 200 })));
        await startsSeen('rolling', ids.length - 5);
      }
    })();
    const replace = async () => {
      workers.push(await startWorker());
      expect(await workers.shift()?.stop()).toEqual({ code: 0, signal: null });
    };
    workers.push(await startWorker());
    await replace();
    await replace();
    rolling = false;
    await feeding;
    await witness.followToEnds();
    expect(ids.length).toBeGreaterThanOrEqual(30);
    expect(await runsOf(ids)).toEqual(Array(ids.length).fill(1));
  });

  it('leaves at once when told a second time: another one runs what it left', async () => {
    const impatient = workers.shift();
    const ids = await post('impatient', 4, { workMs: 3000 });
    await startsSeen('impatient', 4);
    impatient?.signal('SIGTERM');
    await impatient?.until(() => impatient.said('worker takes nothing more').length > 0, 'it was told');
    impatient?.signal('SIGTERM');
    expect(await impatient?.ended).toEqual({ code: 1, signal: null });
    expect(impatient?.said('job completed').filter(({ tenant }) => tenant === 'impatient')).toEqual([]);
    await witness.followToEnds();
    expect((await runsOf(ids)).toSorted()).toEqual([1, 1, 2, 2]);
  });
});

describe('an API killed with kill -9 and started again', () => {
  it('finds its backlog, which went on at its rate: nothing lost, no burst, every promise kept', async () => {
    const ids = await post('rated', RATED.jobs);
    await startsSeen('rated', 5);
    await api.kill();
    const { host } = new URL(api.url);
    api = await system.folder.start('serve', ['--listen', host]);
    const later = await witness.enqueue({ type: 'a', tenant: 'rated', cost: 1 });
    expect(later).toMatchObject({ status: 202, body: { basis: 'rate' } });
    await witness.followToEnds();
    expect(await runsOf([...ids, idOf(later)])).toEqual(Array(RATED.jobs + 1).fill(1));
  });

  it('leaves a system at rest, in which the referee saw nothing that breaks a guarantee', async () => {
    const ends = (await system.referee.trace()).flatMap((event) =>
      event.kind === 'sight' && isEnd(event.state) ? [event.state] : [],
    );
    expect(new Set(ends)).toEqual(new Set(['completed']));
    expect(await runningOf(system, api.url, 'a')).toBe(0);
    const verdict = await system.referee.expectNoViolations();
    const promises = verdict.judgements.find(({ what }) => what === 'promised starts');
    // Where the machine stood still, starts are late, and the next ones keep their distance: those are excused.
    expect(promises?.judged).toBeGreaterThanOrEqual(5);
    expect((promises?.judged ?? 0) + (promises?.excused ?? 0)).toBeGreaterThan(RATED.jobs);
  });
});
