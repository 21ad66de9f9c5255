import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readAnswer } from '../referee/answer.js';
import { field } from '../referee/json-field.js';
import type { Witness } from '../referee/witness.js';
import type { HeadgateProcess } from '../support/headgate-process.js';
import { ADMIN_KEY, idOf, type RefereedSystem, refereedSystem } from './support/refereed-system.js';

const JOBS = 60;
/** What the files say, before and after the restart. */
const FILE = { before: 2, after: 1 };

let system: RefereedSystem;
let apis: HeadgateProcess[];
let worker: HeadgateProcess;
let witness: Witness;
let ids: string[];

const config = (rate: number) => ({
  types: { a: {} },
  tiers: { only: { rate: `${rate}/s`, burst: 1 } },
  defaultTier: 'only',
});
const startApi = (host?: string) => system.folder.start('serve', host === undefined ? [] : ['--listen', host]);
const startWorker = () => system.folder.start('work', ['--concurrency', 'a=10']);

beforeAll(async () => {
  system = await refereedSystem(
    config(FILE.before),
    {
      separateClocks: true,
      types: [{ type: 'a', slots: 10 }],
      buckets: [{ type: 'a', tenant: 'acme', ratePerSecond: FILE.before, burst: 1, depth: 1000 }],
      otherwise: { ratePerSecond: FILE.before, depth: 1000 },
    },
    { arrivalMs: 500, lateMs: 500 },
  );
  apis = await Promise.all([startApi(), startApi()]);
  worker = await startWorker();
  witness = system.witness(apis[0]?.url ?? '');
  const jobs = Array.from({ length: JOBS }, () => ({ type: 'a', cost: 1 }));
  ids = (await witness.enqueueBatch('acme', jobs)).map(idOf);
}, 120_000);
afterAll(async () => system?.end());

/** What has started, in order: the job and when. */
const starts = async () =>
  (await system.referee.trace()).flatMap((event) =>
    event.kind === 'start' && event.tenant === 'acme' ? [{ job: event.job, at: event.at }] : [],
  );
const startsSeen = (count: number) =>
  system.referee.until(
    (trace) => trace.filter((event) => event.kind === 'start' && event.tenant === 'acme').length >= count,
    60_000,
  );

/** Changes acme's rate through one API, and tells the referee. */
async function rerate(through: HeadgateProcess | undefined, rate: string | null, isThen: number): Promise<unknown> {
  const sentAt = system.referee.now();
  const response = await fetch(`${through?.url}/v1/tenants/acme`, {
    method: 'PATCH',
    headers: { authorization: `Bearer ${ADMIN_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ rate }),
  });
  const answeredAt = system.referee.now();
  system.referee.recordChange({ type: 'a', tenant: 'acme', terms: { ratePerSecond: isThen }, sentAt, answeredAt });
  expect(response.status).toBe(200);
  return response.json();
}

/** When each of these jobs will start by what an API says, by the referee's clock: not before and not after. */
async function promisesOf(by: HeadgateProcess | undefined, jobs: readonly string[]) {
  const promises = [];
  for (const job of jobs) {
    const askedAt = system.referee.now();
    const body = await system.get(by?.url ?? '', `/v1/jobs/${job}?tenant=acme`);
    const { state, waitMs, basis } = readAnswer(body);
    const answeredAt = system.referee.now();
    if (state === 'waiting')
      promises.push({ job, basis, from: askedAt + (waitMs ?? NaN), to: answeredAt + (waitMs ?? NaN) });
  }
  return promises;
}

/** Half an interval at these rates, at most 250 ms, and what a busy machine takes. */
const SLACK_MS = 250 + 150;

async function expectKept(promises: Awaited<ReturnType<typeof promisesOf>>, count: number): Promise<void> {
  const startedAt = new Map((await starts()).map(({ job, at }) => [job, at]));
  const judged = promises.slice(0, count);
  expect(judged).toHaveLength(count);
  for (const [k, { job, from, to }] of judged.entries()) {
    const at = startedAt.get(job) ?? Number.NaN;
    expect(at, `start ${k} of ${count}`).toBeGreaterThanOrEqual(from - SLACK_MS);
    expect(at, `start ${k} of ${count}`).toBeLessThanOrEqual(to + SLACK_MS);
  }
}

describe('a backlog whose rate is changed while it waits', () => {
  it('through one API starts at the new rate at once, when the other API says', async () => {
    await startsSeen(3);
    expect(await rerate(apis[0], '10/s', 10)).toMatchObject({ overrides: { rate: '10/s' } });
    const before = (await starts()).length;
    const promises = await promisesOf(apis[1], ids.slice(before, before + 12));
    const [first, second] = promises.slice(-2);
    expect((second?.from ?? 0) - (first?.from ?? 0), 'one job every tenth of a second').toBeLessThan(250);
    await startsSeen(before + 14);
    await expectKept(promises, Math.min(8, promises.length));
  });

  it('through the other API too, without a burst where it becomes slower', async () => {
    await rerate(apis[1], '4/s', 4);
    const before = (await starts()).length;
    const promises = await promisesOf(apis[0], ids.slice(before + 1, before + 7));
    await startsSeen(before + 8);
    await expectKept(promises, Math.min(5, promises.length));
  });

  it('goes on at the changed rate after everything was stopped and started over another file', async () => {
    const from = system.referee.now();
    const hosts = apis.map(({ url }) => new URL(url).host);
    for (const each of [worker, ...apis]) expect(await each.stop()).toEqual({ code: 0, signal: null });
    expect(system.folder.redisPid, 'Redis was stopped, too').toBeUndefined();
    const file = await readFile(system.folder.configFile, 'utf8');
    await system.folder.configure(file.replace(`"${FILE.before}/s"`, `"${FILE.after}/s"`));
    apis = await Promise.all(hosts.map((host) => startApi(host)));
    worker = await startWorker();
    const before = (await starts()).length;
    await startsSeen(before + 1);
    system.referee.recordOutage({ from, to: system.referee.now(), note: 'everything stopped and started' });

    for (const api of apis) {
      expect(api.said('overridden at run time')).toMatchObject([{ place: 'tenants.acme', overrides: { rate: '4/s' } }]);
      const held = await system.get(api.url, '/v1/tenants/acme');
      const rate = field(field(field(field(held, 'types'), 'a'), 'profile'), 'rate');
      expect(rate).toEqual({ value: '4/s', from: 'override', at: 'tenants.acme' });
    }
    const promises = await promisesOf(apis[1], ids.slice(before + 2, before + 7));
    await startsSeen(before + 8);
    await expectKept(promises, Math.min(4, promises.length));
  });

  it('is left to the file again once the override is cleared, and ends as fast as it is told', async () => {
    const cleared = await rerate(apis[0], null, FILE.after);
    const rate = field(field(field(field(cleared, 'types'), 'a'), 'profile'), 'rate');
    expect(rate).toEqual({ value: `${FILE.after}/s`, from: 'tier', at: 'tiers.only' });
    const before = (await starts()).length;
    const promises = await promisesOf(apis[1], ids.slice(before + 1, before + 4));
    await startsSeen(before + 4);
    await expectKept(promises, Math.min(2, promises.length));

    await rerate(apis[1], '20/s', 20);
    await witness.followToEnds();
  });

  it('has lost nothing, kept its order and, as the referee saw it, its rates at every moment', async () => {
    const order = (await starts()).map(({ job }) => job);
    expect(order).toEqual(ids);
    const { judgements } = await system.referee.expectNoViolations();
    const envelope = judgements.find(({ what }) => what === 'starts against every window before them');
    expect(envelope?.judged).toBeGreaterThanOrEqual(JOBS);
  });
});
