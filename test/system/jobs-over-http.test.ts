import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { field, textField } from '../referee/json-field.js';
import type { Witness } from '../referee/witness.js';
import type { HeadgateProcess } from '../support/headgate-process.js';
import { idOf, type RefereedSystem, refereedSystem } from './support/refereed-system.js';

const SLOTS = 2;
const SLOW = { ratePerSecond: 5, burst: 1, depth: 1000 };
const OPEN = { ratePerSecond: null, burst: 1, depth: 1000 };

let system: RefereedSystem;
let headgate: HeadgateProcess;
let witness: Witness;

beforeAll(async () => {
  system = await refereedSystem(
    {
      types: { slow: {}, open: { attempts: 2, backoff: { type: 'fixed', delay: '100ms' } } },
      tiers: { only: { rate: '5/s' } },
      defaultTier: 'only',
      tenants: Object.fromEntries(
        ['cancelling', 'repeating', 'listing', 'failing'].map((tenant) => [
          tenant,
          { types: { open: { rate: 'unlimited' } } },
        ]),
      ),
    },
    {
      separateClocks: true,
      types: [
        { type: 'slow', slots: SLOTS },
        { type: 'open', slots: SLOTS },
      ],
      buckets: ['cancelling', 'repeating', 'listing', 'failing'].map((tenant) => ({ type: 'open', tenant, ...OPEN })),
      otherwise: SLOW,
    },
    { arrivalMs: 250, lateMs: 250 },
  );
  headgate = await system.folder.start('start', ['--concurrency', `slow=${SLOTS},open=${SLOTS}`]);
  witness = system.witness(headgate.url);
});
afterAll(async () => system?.end());

const job = (type: string, tenant: string, more: object = {}) => ({ type, tenant, cost: 1, ...more });

/** Ids of the jobs of a tenant, as they started. */
async function startsOf(tenant: string): Promise<string[]> {
  return (await system.referee.trace()).flatMap((event) =>
    event.kind === 'start' && event.tenant === tenant ? [event.job] : [],
  );
}

const hasStarted = (id: string) =>
  system.referee.until((trace) => trace.some((event) => event.kind === 'start' && event.job === id));

async function stateOf(tenant: string, id: string): Promise<string | undefined> {
  return textField((await witness.look(tenant, id)).body, 'state');
}

describe('jobs over HTTP, end to end', () => {
  it('start by priority, and in the order of admission within one', async () => {
    const priorities = [9, 4, 4, 0, 0];
    const answers = await witness.enqueueBatch(
      'ranked',
      priorities.map((priority) => ({ type: 'slow', cost: 1, priority })),
    );
    const [nine, four1, four2, zero1, zero2] = answers.map(idOf);
    await expect.poll(() => startsOf('ranked')).toEqual([zero1, zero2, four1, four2, nine]);
  });

  it('wait for their delay, and are told apart while they do', async () => {
    const answer = await witness.enqueue(job('slow', 'late', { delayMs: 1500 }));
    expect(answer).toMatchObject({ status: 202, body: { state: 'delayed', basis: 'delay', position: null } });
    expect(await stateOf('late', idOf(answer))).toBe('delayed');
    await expect.poll(() => stateOf('late', idOf(answer))).toBe('completed');
  });

  it('come as a batch, of which each bucket takes a prefix', async () => {
    const answers = await witness.enqueueBatch(
      'batching',
      [1, 2, 3].map(() => ({ type: 'slow', cost: 1 })),
    );
    expect(answers.map(({ status }) => status)).toEqual([202, 202, 202]);
    await expect.poll(() => startsOf('batching')).toEqual(answers.map(idOf));
  });

  it('are cancelled before they start: they never run', async () => {
    const [first, second] = [
      await witness.enqueue(job('slow', 'leaving')),
      await witness.enqueue(job('slow', 'leaving')),
    ];
    const waiting = await witness.enqueue(job('slow', 'leaving', { delayMs: 60_000 }));
    expect(await witness.cancel('leaving', idOf(waiting))).toMatchObject({ status: 200, body: { state: 'cancelled' } });
    expect(await witness.cancel('leaving', idOf(waiting))).toMatchObject({
      status: 409,
      body: { code: 'already_ended' },
    });
    await expect.poll(() => startsOf('leaving')).toEqual([idOf(first), idOf(second)]);
    expect(await stateOf('leaving', idOf(waiting))).toBe('cancelled');
  });

  it('are cancelled while they run: the handler is told, and the slot is free again', async () => {
    const answer = await witness.enqueue(job('open', 'cancelling', { data: { workMs: 50_000 } }));
    await hasStarted(idOf(answer));
    const cancelled = await witness.cancel('cancelling', idOf(answer));
    expect(cancelled).toMatchObject({ status: 202, body: { state: 'active', cancelRequested: true } });
    await expect.poll(() => stateOf('cancelling', idOf(answer))).toBe('cancelled');
    const next = await witness.enqueue(job('open', 'cancelling'));
    await expect.poll(() => stateOf('cancelling', idOf(next))).toBe('completed');
  });

  it('are stored once under one idempotency key, whoever posts it how often', async () => {
    const once = job('open', 'repeating', { idempotencyKey: 'the-one', data: { workMs: 5 } });
    const answers = await Promise.all([1, 2, 3, 4, 5].map(() => witness.enqueue(once)));
    expect(answers.map(({ status }) => status)).toEqual([202, 202, 202, 202, 202]);
    expect(new Set(answers.map(idOf)).size).toBe(1);
    const other = await witness.enqueue({ ...once, data: { workMs: 6 } });
    expect(other).toMatchObject({ status: 422, body: { code: 'idempotency_mismatch' } });
    await expect.poll(() => stateOf('repeating', idOf(answers[0]))).toBe('completed');
    expect(await startsOf('repeating')).toHaveLength(1);
  });

  it('are tried again as often as their type says, and fail with what the handler threw', async () => {
    const recovering = await witness.enqueue(job('open', 'failing', { data: { fail: 1 } }));
    const hopeless = await witness.enqueue(job('open', 'failing', { data: { fail: true } }));
    await expect.poll(() => stateOf('failing', idOf(recovering))).toBe('completed');
    await expect.poll(() => stateOf('failing', idOf(hopeless))).toBe('failed');
    const { body } = await witness.look('failing', idOf(hopeless));
    expect(JSON.stringify(field(body, 'error'))).toContain('attempt 2 was to fail');
    expect(await startsOf('failing')).toHaveLength(4);
  });

  it('are listed by state, page by page, oldest first', async () => {
    const answers = await witness.enqueueBatch(
      'listing',
      [1, 2, 3, 4, 5].map(() => ({ type: 'open', cost: 1 })),
    );
    const page = async (cursor?: unknown): Promise<unknown> => {
      const more = typeof cursor === 'string' ? `&cursor=${encodeURIComponent(cursor)}` : '';
      return system.get(headgate.url, `/v1/jobs?tenant=listing&type=open&state=completed&limit=2${more}`);
    };
    const idsOf = (found: unknown) => {
      const jobs = field(found, 'jobs');
      return Array.isArray(jobs) ? jobs.map((each) => textField(each, 'id')) : [];
    };
    const all = async () => {
      const ids: unknown[] = [];
      const sizes: number[] = [];
      for (let found = await page(); ; found = await page(field(found, 'cursor'))) {
        ids.push(...idsOf(found));
        sizes.push(idsOf(found).length);
        if (field(found, 'cursor') === undefined) return { ids, sizes };
      }
    };
    await expect.poll(async () => (await all()).ids.toSorted()).toEqual(answers.map(idOf).toSorted());
    expect(Math.max(...(await all()).sizes)).toBe(2);
  });

  it('each came to exactly one end, and the referee saw nothing that breaks a guarantee', async () => {
    await witness.followToEnds();
    const verdict = await system.referee.expectNoViolations();
    expect(verdict.seen.admitted).toBeGreaterThan(20);
    for (const type of ['slow', 'open']) {
      const types = field(await system.get(headgate.url, '/v1/types?tenant=listing'), 'types');
      const found: unknown = Array.isArray(types) ? types.find((each) => field(each, 'type') === type) : undefined;
      expect(found).toMatchObject({ running: 0, backloggedBuckets: 0 });
    }
  });
});
