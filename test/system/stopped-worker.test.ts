import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isEnd } from '../referee/job-ends.js';
import { textField } from '../referee/json-field.js';
import type { Witness } from '../referee/witness.js';
import type { HeadgateProcess } from '../support/headgate-process.js';
import { type RefereedSystem, refereedSystem } from './support/refereed-system.js';
import { runningOf } from './support/running-jobs.js';

const STOPPED_MS = 60_000;
const SLOTS = 3;
/** Less than both workers have, so that a slot that the stopped one kept would be missed. */
const TYPE_CAP = 5;
const TENANTS = ['one', 'two', 'three'];
const WAVE = 12;
const WORK_MS = 400;
/** So long that all of them run when the worker is stopped: a job between its dispatch and its handler would be seen late. */
const FIRST_WORK_MS = 5000;

let system: RefereedSystem;
let api: HeadgateProcess;
let stopped: HeadgateProcess;
let other: HeadgateProcess;
let witness: Witness;

const startWorker = () => system.folder.start('work', ['--types', 'a', '--concurrency', `a=${SLOTS}`]);

beforeAll(async () => {
  const terms = { ratePerSecond: null, depth: 1000 };
  system = await refereedSystem(
    {
      // The other one may be silent for a second on a busy machine.
      lockDuration: '5s',
      stalledInterval: '500ms',
      types: { a: { capacity: { concurrency: TYPE_CAP }, keepResults: { count: 100_000 } } },
      tiers: { only: { rate: 'unlimited', depth: 1000 } },
      defaultTier: 'only',
    },
    {
      separateClocks: true,
      types: [{ type: 'a', slots: TYPE_CAP, capacity: { concurrency: TYPE_CAP } }],
      buckets: [],
      otherwise: terms,
    },
    { arrivalMs: 1500, lateMs: 1500 },
  );
  api = await system.folder.start('serve');
  [stopped, other] = await Promise.all([startWorker(), startWorker()]);
  witness = system.witness(api.url);
}, 120_000);
afterAll(async () => {
  if (stopped?.isRunning) signal('SIGCONT');
  await system?.end();
});

/** To the worker and whatever it has started. */
function signal(name: 'SIGSTOP' | 'SIGCONT'): void {
  for (const pid of [stopped.pid, ...stopped.workerPids]) process.kill(pid, name);
}

async function post(): Promise<void> {
  const jobs = Array.from({ length: WAVE }, () => ({ type: 'a', cost: 1, data: { workMs: WORK_MS } }));
  const answers = await Promise.all(TENANTS.map((tenant) => witness.enqueueBatch(tenant, jobs)));
  expect(answers.flat().map(({ status }) => status)).toEqual(Array(TENANTS.length * WAVE).fill(202));
}

const startsSeen = (atLeast: number) =>
  system.referee.until((trace) => trace.filter(({ kind }) => kind === 'start').length >= atLeast, 90_000);

const allSlotsTaken = () =>
  system.referee.until((trace) => {
    const open = new Set<number>();
    for (const event of trace) {
      if (event.kind === 'start') open.add(event.run);
      else if (event.kind === 'end' || event.kind === 'gone') open.delete(event.run);
    }
    return open.size === TYPE_CAP;
  }, 60_000);

describe('a worker that stands still for a minute under load, and goes on', () => {
  it('keeps no job and no slot from the others, and what it brings late does not count', async () => {
    const jobs = Array.from({ length: TYPE_CAP }, () => ({ type: 'a', cost: 1, data: { workMs: FIRST_WORK_MS } }));
    await witness.enqueueBatch('one', jobs);
    await allSlotsTaken();
    await post();
    const from = system.referee.now();
    signal('SIGSTOP');
    const begun = performance.now();
    let waves = 1;
    while (performance.now() - begun < STOPPED_MS) {
      // As many as the other one serves in this time, and a few more.
      await post();
      waves += 1;
      await Promise.all([startsSeen(TYPE_CAP + (waves - 1) * WAVE * TENANTS.length), pause(3000)]);
    }
    // Nobody waited for the one that stands still: all that came before the last wave has started, and what runs is the other one's.
    expect(other.said('jobs of a worker that is gone were taken back').length).toBeGreaterThanOrEqual(1);
    expect(await runningOf(system, api.url, 'a')).toBeLessThanOrEqual(SLOTS);
    signal('SIGCONT');
    await stopped.until(
      () => stopped.said('job released').some(({ outcome }) => outcome === 'lost'),
      'a result was late',
    );
    const before = stopped.said('job completed').length;
    await post();
    await stopped.until(() => stopped.said('job completed').length > before, 'it works again');
    system.referee.recordOutage({ from, to: system.referee.now(), note: 'a worker stood still' });
    await witness.followToEnds(90_000);

    const trace = await system.referee.trace();
    const runs = new Map<string, number>();
    for (const event of trace) if (event.kind === 'start') runs.set(event.job, (runs.get(event.job) ?? 0) + 1);
    const again = [...runs].filter(([, count]) => count > 1).map(([job]) => job);
    expect(again.length).toBeGreaterThanOrEqual(1);
    expect(again.length).toBeLessThanOrEqual(SLOTS);
    // What it lost is what the other one has, once.
    const late = stopped.said('job released').map(({ job }) => String(job));
    const completed = [...stopped.said('job completed'), ...other.said('job completed')].map(({ job }) => String(job));
    expect(again).toEqual(expect.arrayContaining(late));
    expect(completed.filter((job, i) => completed.indexOf(job) !== i)).toEqual([]);
    expect(completed).toHaveLength(TYPE_CAP + (waves + 1) * WAVE * TENANTS.length);

    const ends = trace.flatMap((event) => (event.kind === 'sight' && isEnd(event.state) ? [event.state] : []));
    expect(new Set(ends)).toEqual(new Set(['completed']));
    expect(await runningOf(system, api.url, 'a')).toBe(0);
    await system.referee.expectNoViolations();
  });

  it('leaves all slots of the type to be used', async () => {
    await Promise.all([post(), allSlotsTaken()]);
    await witness.followToEnds();
    const { body } = await witness.enqueue({ type: 'a', tenant: 'one', cost: 1 });
    await witness.followToEnds();
    expect(textField((await witness.look('one', textField(body, 'id') ?? '')).body, 'state')).toBe('completed');
    await system.referee.expectNoViolations();
  });
});
