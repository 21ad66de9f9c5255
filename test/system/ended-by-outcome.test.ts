import { afterAll, beforeAll, expect, it } from 'vitest';
import { numberField } from '../referee/json-field.js';
import type { Witness } from '../referee/witness.js';
import { samplesOf } from '../support/exposition.js';
import { ADMIN_KEY, idOf, type RefereedSystem, refereedSystem } from './support/refereed-system.js';

/** Until a job has expired behind one that runs. */
const START_WITHIN_MS = 1500;
const LATER = { delayMs: 3_600_000 };

let system: RefereedSystem;
let witness: Witness;
let pages: readonly string[];
let apiUrl: string;

beforeAll(async () => {
  system = await refereedSystem(
    {
      stalledInterval: '100ms',
      types: { a: { attempts: 1 }, b: {} },
      tiers: { only: { rate: 'unlimited', concurrency: 1 } },
      defaultTier: 'only',
    },
    {
      separateClocks: true,
      types: [{ type: 'a', slots: 2 }],
      buckets: [],
      otherwise: { ratePerSecond: null, concurrency: 1 },
    },
    { arrivalMs: 5000, lateMs: 5000 },
  );
  const [api, worker] = await Promise.all([
    system.folder.start('serve'),
    system.folder.start('work', ['--concurrency', 'a=2,b=1', '--health-listen', '0']),
  ]);
  apiUrl = api.url;
  const port = numberField(worker.said('worker is ready')[0], 'healthPort');
  pages = [`${apiUrl}/metrics`, `http://127.0.0.1:${port}/metrics`];
  witness = system.witness(apiUrl);
});
afterAll(async () => system?.end());

const headers = { authorization: `Bearer ${ADMIN_KEY}` };

async function send(method: string, path: string, body?: object): Promise<void> {
  const json = body && { headers: { ...headers, 'content-type': 'application/json' }, body: JSON.stringify(body) };
  const answer = await fetch(`${apiUrl}${path}`, { method, headers, ...json });
  expect(answer.status, `${method} ${path}: ${await answer.text()}`).toBe(200);
}

/** Has jobs wait for an hour, which the referee is not told of: it would not know who cancels them. */
const letWait = (type: string, tenant: string, count: number) =>
  send('POST', '/v1/jobs/batch', { tenant, jobs: Array.from({ length: count }, () => ({ type, data: {}, ...LATER })) });

/** What a counter says over all processes, by `<type> <tenant>` and what else it has. */
async function counted(name: string): Promise<Record<string, number>> {
  const texts = await Promise.all(pages.map(async (page) => (await fetch(page, { headers })).text()));
  const sums: Record<string, number> = {};
  for (const { labels, value } of texts.flatMap(samplesOf).filter((sample) => sample.name === name)) {
    const key = Object.values(labels).join(' ');
    sums[key] = (sums[key] ?? 0) + value;
  }
  return sums;
}

it('every job that was admitted is counted once by how it ended, whoever ended it', async () => {
  const runs = { type: 'a', tenant: 'runs', cost: 1 };
  for (const data of [{}, {}, { fail: true }]) expect((await witness.enqueue({ ...runs, data })).status).toBe(202);
  // One that is asked to stop while it runs, one behind it that expires, and one that is cancelled before it starts.
  const busy = { type: 'a', tenant: 'busy', cost: 1 };
  const stopped = idOf(await witness.enqueue({ ...busy, data: { workMs: 600_000 } }));
  await system.referee.until((trace) => trace.some((event) => event.kind === 'start' && event.job === stopped));
  const startBy = new Date(Date.now() + START_WITHIN_MS).toISOString();
  expect((await witness.enqueue({ ...busy, startBy })).status).toBe(202);
  const unstarted = idOf(await witness.enqueue(busy));
  await witness.cancel('busy', unstarted);
  await expect
    .poll(() => counted('headgate_jobs_ended_total'), { timeout: 60_000 })
    .toHaveProperty('a busy expired', 1);
  await witness.cancel('busy', stopped);
  await witness.followToEnds();

  for (const [type, tenant, count] of [
    ['a', 'purged', 5],
    ['b', 'purged', 2],
    ['a', 'deleted', 4],
    ['b', 'one', 3],
    ['b', 'two', 1],
  ] as const) {
    await letWait(type, tenant, count);
  }
  await send('POST', '/v1/tenants/purged/purge');
  await send('DELETE', '/v1/tenants/deleted');
  await send('POST', '/v1/types/b/purge');

  await expect
    .poll(() => counted('headgate_jobs_ended_total'), { timeout: 60_000 })
    .toEqual({
      'a runs completed': 2,
      'a runs failed': 1,
      'a busy expired': 1,
      'a busy cancelled': 2,
      'a purged cancelled': 5,
      'b purged cancelled': 2,
      'a deleted cancelled': 4,
      'b one cancelled': 3,
      'b two cancelled': 1,
    });
  const admitted = Object.values(await counted('headgate_jobs_admitted_total'));
  expect(admitted.reduce((sum, count) => sum + count)).toBe(21);
  await system.referee.expectNoViolations();
});
