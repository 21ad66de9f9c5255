import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readAnswer } from '../referee/answer.js';
import { field } from '../referee/json-field.js';
import type { StatedTerms } from '../referee/trace.js';
import type { Witness } from '../referee/witness.js';
import type { HeadgateProcess } from '../support/headgate-process.js';
import { ADMIN_KEY, idOf, type RefereedSystem, refereedSystem } from './support/refereed-system.js';

/** What the file says: the rate of type `whole` over all tenants, that of the tier for type `tiered`, and the slots of type `few`. */
const FILE = { whole: 4, tiered: 2, few: 1 };
/** More than are started while it is looked at, however long that takes. */
const JOBS = 300;
const WORK_MS = 200;
/** Of a start on its way to the referee, on a busy machine. */
const ARRIVAL_MS = 500;

let system: RefereedSystem;
let apis: HeadgateProcess[];
let worker: HeadgateProcess;
let witness: Witness;
let ids: Readonly<Record<'whole' | 'tiered' | 'few', readonly string[]>>;

const startApi = (host?: string) => system.folder.start('serve', host === undefined ? [] : ['--listen', host]);
const startWorker = () => system.folder.start('work', ['--concurrency', 'whole=10,tiered=10,few=10']);

beforeAll(async () => {
  system = await refereedSystem(
    {
      types: {
        whole: { capacity: { rate: `${FILE.whole}/s` } },
        tiered: {},
        few: { capacity: { concurrency: FILE.few } },
      },
      tiers: { open: { rate: 'unlimited' }, paced: { rate: `${FILE.tiered}/s`, burst: 1 } },
      defaultTier: 'open',
      tenants: { acme: { tier: 'paced' } },
    },
    {
      separateClocks: true,
      types: [
        { type: 'whole', slots: 10, capacity: { ratePerSecond: FILE.whole } },
        { type: 'tiered', slots: 10 },
        { type: 'few', slots: 10, capacity: { concurrency: FILE.few } },
      ],
      buckets: [{ type: 'tiered', tenant: 'acme', ratePerSecond: FILE.tiered, burst: 1, depth: 1000 }],
      otherwise: { ratePerSecond: null, depth: 1000 },
    },
    { arrivalMs: ARRIVAL_MS, lateMs: ARRIVAL_MS },
  );
  apis = await Promise.all([startApi(), startApi()]);
  worker = await startWorker();
  witness = system.witness(apis[0]?.url ?? '');
  const post = async (type: string, tenant: string, data: object = {}) => {
    const jobs = Array.from({ length: JOBS }, () => ({ type, cost: 1, data }));
    return (await witness.enqueueBatch(tenant, jobs)).map(idOf);
  };
  ids = {
    whole: await post('whole', 'x'),
    tiered: await post('tiered', 'acme'),
    few: await post('few', 'y', { workMs: WORK_MS }),
  };
}, 120_000);
afterAll(async () => system?.end());

const startsOf = async (type: string) =>
  (await system.referee.trace()).flatMap((event) => (event.kind === 'start' && event.type === type ? [event.at] : []));

/** When the next so many jobs of a type started, of those that start from now on. */
async function nextStarts(type: string, count: number): Promise<number[]> {
  const before = (await startsOf(type)).length;
  await system.referee.until(
    (trace) => trace.filter((event) => event.kind === 'start' && event.type === type).length >= before + count,
    60_000,
  );
  return (await startsOf(type)).slice(before, before + count);
}

/** How many jobs of a type ran at once, at each of its starts from an instant on. */
async function runningAtStarts(type: string, from: number): Promise<number[]> {
  const running = new Set<number>();
  const counts: number[] = [];
  for (const event of (await system.referee.trace()).toSorted((one, other) => instantOf(one) - instantOf(other))) {
    if (event.kind === 'start' && event.type === type) {
      running.add(event.run);
      if (event.at >= from) counts.push(running.size);
    } else if (event.kind === 'end' || event.kind === 'gone') running.delete(event.run);
  }
  return counts;
}

const instantOf = (event: object): number => ('at' in event && typeof event.at === 'number' ? event.at : 0);

/** Changes something through one API, and tells the referee what holds from then on. */
async function change(
  through: number,
  path: string,
  body: object,
  isThen: { type: string; tenant: string | null; terms: StatedTerms },
): Promise<number> {
  const sentAt = system.referee.now();
  const response = await fetch(`${apis[through]?.url}/v1/${path}`, {
    method: 'PATCH',
    headers: { authorization: `Bearer ${ADMIN_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const answeredAt = system.referee.now();
  system.referee.recordChange({ ...isThen, sentAt, answeredAt });
  expect([response.status, await response.text()]).toEqual([200, expect.anything()]);
  return answeredAt;
}

const capacityRate = (through: number, ratePerSecond: number) =>
  change(
    through,
    'types/whole',
    { capacity: { rate: `${ratePerSecond}/s` } },
    {
      ...{ type: 'whole', tenant: null, terms: { ratePerSecond } },
    },
  );
const tierRate = (through: number, ratePerSecond: number) =>
  change(
    through,
    'tiers/paced',
    { rate: `${ratePerSecond}/s` },
    {
      ...{ type: 'tiered', tenant: 'acme', terms: { ratePerSecond } },
    },
  );
const slots = (through: number, concurrency: number) =>
  change(
    through,
    'types/few',
    { capacity: { concurrency } },
    {
      ...{ type: 'few', tenant: null, terms: { concurrency } },
    },
  );

/**
 * So many starts in a row come as fast as a rate says, or slower by no more than a busy machine is: nothing stands still. That they come no
 * faster is the referee's to say, who has heard of every change.
 */
async function expectPace(type: string, ratePerSecond: number, count: number): Promise<void> {
  const starts = await nextStarts(type, count);
  const tookMs = (starts.at(-1) ?? Number.NaN) - (starts[0] ?? Number.NaN);
  expect(tookMs, `${count} starts of ${type}`).toBeLessThan(1000 + (1.4 * (count - 1) * 1000) / ratePerSecond);
}

/** An API promises two jobs, the last of their bucket, starts that lie an interval of this rate apart. The machine may be between its two answers. */
async function expectPromisedGap(through: number, ratePerSecond: number): Promise<void> {
  const [first, second] = await Promise.all(
    ids.tiered.slice(-2).map((id) => system.get(apis[through]?.url ?? '', `/v1/jobs/${id}?tenant=acme`)),
  );
  const gapMs = (readAnswer(second).releaseAtMs ?? Number.NaN) - (readAnswer(first).releaseAtMs ?? Number.NaN);
  expect(Math.abs(gapMs - 1000 / ratePerSecond), `${gapMs} ms`).toBeLessThan(50);
}

const valueAt = async (through: number, path: string, ...names: string[]) =>
  names.reduce<unknown>((found, name) => field(found, name), await system.get(apis[through]?.url ?? '', `/v1/${path}`));

describe('what waits while it is changed, through one of two APIs, how fast it may go', () => {
  it('goes at the new capacity of its type at once', async () => {
    await capacityRate(0, 16);
    await expectPace('whole', 16, 17);
    await capacityRate(1, 8);
    await expectPace('whole', 8, 9);
  });

  it('goes at the new rate of its tenant’s tier at once, and the other API promises so', async () => {
    await tierRate(0, 16);
    await expectPromisedGap(1, 16);
    await expectPace('tiered', 16, 17);
    await tierRate(1, 8);
    await expectPromisedGap(0, 8);
    await expectPace('tiered', 8, 9);
  });

  it('gets the new slots of its type at once, and no longer those that it has no more', async () => {
    await slots(0, 3);
    await nextStarts('few', 6);
    expect(Math.max(...(await runningAtStarts('few', 0)))).toBe(3);
    const loweredAt = await slots(1, 2);
    await nextStarts('few', 12);
    const later = await runningAtStarts('few', loweredAt + ARRIVAL_MS);
    expect(later.length).toBeGreaterThan(0);
    expect(Math.max(...later)).toBe(2);
  });

  it('goes on so after everything was stopped and started', async () => {
    const from = system.referee.now();
    const hosts = apis.map(({ url }) => new URL(url).host);
    for (const each of [worker, ...apis]) expect(await each.stop()).toEqual({ code: 0, signal: null });
    expect(system.folder.redisPid, 'Redis was stopped, too').toBeUndefined();
    apis = await Promise.all(hosts.map((host) => startApi(host)));
    worker = await startWorker();
    await Promise.all(['whole', 'tiered', 'few'].map((type) => nextStarts(type, 1)));
    const startedAt = system.referee.now();
    system.referee.recordOutage({ from, to: startedAt, note: 'everything stopped and started' });

    for (const through of [0, 1]) {
      const from = 'override';
      expect(await valueAt(through, 'types/whole', 'capacity', 'rate')).toMatchObject({ value: '8/s', from });
      expect(await valueAt(through, 'tiers/paced', 'profile', 'rate')).toMatchObject({ value: '8/s', from });
      expect(await valueAt(through, 'types/few', 'capacity', 'concurrency')).toMatchObject({ value: 2, from });
    }
    await expectPromisedGap(1, 8);
    await Promise.all([expectPace('whole', 8, 7), expectPace('tiered', 8, 7), nextStarts('few', 6)]);
    expect(Math.max(...(await runningAtStarts('few', startedAt)))).toBe(2);
  });

  it('has lost nothing and, as the referee saw it, kept every limit at every moment', async () => {
    await capacityRate(0, 200);
    await tierRate(0, 200);
    await slots(0, 10);
    await witness.followToEnds();
    for (const type of ['whole', 'tiered', 'few'] as const) expect(await startsOf(type)).toHaveLength(JOBS);
    const { judgements } = await system.referee.expectNoViolations();
    const envelope = judgements.find(({ what }) => what === 'starts against every window before them');
    expect(envelope?.judged).toBeGreaterThanOrEqual(2 * JOBS);
  });
});
