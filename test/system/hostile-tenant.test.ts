import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { textField } from '../referee/json-field.js';
import type { HeadgateProcess } from '../support/headgate-process.js';
import { startRedis, type TestRedis } from '../support/redis-server.js';
import { Adversary } from './support/adversary.js';
import { HOSTILE } from './support/attacked-handler.js';
import { ADMIN_KEY, idOf, type RefereedSystem, refereedSystem } from './support/refereed-system.js';

const HANDLER = fileURLToPath(new URL('support/attacked-handler.ts', import.meta.url));
const KEY = 'key-of-the-hostile-tenant';
const MB = 1024 * 1024;
/** `HOSTILE_SEEDS=4,5 npx vitest run --project system …` tries others. */
const SEEDS = (process.env.HOSTILE_SEEDS ?? '1,2,3').split(',').map(Number);
const RATE = 2;
const STEADY_JOBS = 14;
/** Of the hostile tenant. */
const HELD = { depth: 600, maxBytes: 2 * MB, concurrency: 4, kept: 300 };
/** What one waiting or kept job takes beside its payload, and what BullMQ's event stream and the library may grow to. */
const PER_JOB = 3 * 1024;
const FIXED = 12 * MB;
/** What one API process may grow to, beside that: of a thousand waits, two hundred streams and bodies of up to a megabyte. */
const RESIDENT = 200 * MB;
/** Of a policy's keys, which go within seconds: see below. */
const WINDOW_MS = 2000;

let redis: TestRedis;
let client: Redis;
let system: RefereedSystem;
let apis: HeadgateProcess[];

beforeEach(async () => {
  redis = await startRedis({ appendonly: true });
  client = redis.client();
  system = await refereedSystem(
    {
      redis: redis.socketPath,
      types: {
        a: {
          handler: HANDLER,
          cost: { request: { min: 0.5, max: 100 }, default: 1 },
          maxPayload: '256KB',
          maxHold: '1s',
          timeout: '2s',
          attempts: 2,
          keepResults: { age: '30s', count: HELD.kept },
        },
      },
      tiers: { only: { rate: `${RATE}/s`, burst: 1 } },
      defaultTier: 'only',
      tenants: {
        [HOSTILE]: {
          key: KEY,
          rate: 'unlimited',
          depth: HELD.depth,
          maxBytes: `${HELD.maxBytes / MB}MB`,
          concurrency: HELD.concurrency,
          weight: 1000,
        },
      },
      policies: { api: { algorithm: 'sliding-window-log', limit: 1, window: `${WINDOW_MS}ms` } },
    },
    {
      separateClocks: true,
      types: [{ type: 'a', slots: 8 }],
      buckets: [],
      otherwise: { ratePerSecond: RATE, burst: 1, depth: 1000 },
    },
    // Within the slack of a tenant of two a second, which is what it may be moved by, and what a start takes.
    { arrivalMs: 250, lateMs: 300 },
  );
  apis = await Promise.all([system.folder.start('serve'), system.folder.start('serve')]);
  await system.folder.start('work', ['--types', 'a', '--concurrency', 'a=12']);
});
afterEach(async () => {
  await system?.end();
  await redis?.stop();
});

/** Of the two APIs, the greater. */
const residentMemory = (): number =>
  Math.max(
    ...apis.map(
      ({ pid }) => 1024 * Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]),
    ),
  );

const usedMemory = async (): Promise<number> => Number(/used_memory:(\d+)/.exec(await client.info('memory'))?.[1]);

/** A job of another tenant, whose caller waits for its end: the status of the answer, and the state that it tells. */
async function waitedFor(url: string, job: string): Promise<string> {
  const headers = { authorization: `Bearer ${ADMIN_KEY}`, prefer: 'wait=30' };
  const answer = await fetch(`${url}/v1/jobs/${job}?tenant=steady`, { headers });
  return `${answer.status} ${textField(await answer.json(), 'state')}`;
}

/** How often each status was answered. */
function statusesOf(adversaries: readonly Adversary[]): ReadonlyMap<number, number> {
  const counts = new Map<number, number>();
  for (const [status, count] of adversaries.flatMap(({ statuses }) => [...statuses])) {
    counts.set(status, (counts.get(status) ?? 0) + count);
  }
  return counts;
}

// Where the machine itself stands still for a moment, a start moves with it: such a run is made again, from the beginning.
describe.each(SEEDS)('a hostile tenant with a valid key (seed %i)', { retry: 2, timeout: 240_000 }, (seed) => {
  it('moves no start of others by more than the slack, costs them no answer, and leaves nothing', async () => {
    const [api, other] = apis;
    if (!api || !other) throw new Error('two APIs were started');
    const witness = system.witness(api.url);
    const ids: string[] = [];
    await witness.enqueue({ type: 'a', tenant: 'warm-up', cost: 1 });
    await witness.followToEnds();
    const before = await usedMemory();
    const residentBefore = residentMemory();

    const stop = new AbortController();
    const options = { key: KEY, type: 'a', policy: 'api', othersJobs: () => ids };
    const adversaries = [api, other].map(({ url }, i) => new Adversary({ ...options, url, seed: 10 * seed + i }));
    await Promise.all(adversaries.map((each) => each.assemble()));
    const rage = Promise.all(adversaries.map((each) => each.rage(stop.signal)));
    let most = 0;
    let residentMost = 0;
    const statuses: number[] = [];
    const waited: Promise<string>[] = [];
    for (let i = 0; i < STEADY_JOBS; i += 1) {
      const answer = await witness.enqueue({ type: 'a', tenant: 'steady', cost: 1 });
      statuses.push(answer.status);
      ids.push(idOf(answer));
      waited.push(waitedFor(i % 2 === 0 ? api.url : other.url, idOf(answer)).catch(String));
      residentMost = Math.max(residentMost, residentMemory());
      most = Math.max(most, await usedMemory());
      await pause(500 / RATE);
    }
    const told = await Promise.all(waited);
    await witness.followToEnds();
    stop.abort();
    await rage;
    for (const each of adversaries) each.leave();

    // It did get through, to every kind of answer. It may find Redis slow, as it made it; nobody else does.
    const answered = [...statusesOf(adversaries).keys()];
    expect(answered).toEqual(expect.arrayContaining([200, 202, 400, 403, 404, 429]));
    expect(answered.filter((status) => status >= 500 && status !== 503)).toEqual([]);
    const attacks = new Set(adversaries.flatMap((each) => [...each.attacks.keys()]));
    expect(adversaries.flatMap(({ names }) => names.filter((name) => !attacks.has(name)))).toEqual([]);

    expect(statuses).toEqual(Array(STEADY_JOBS).fill(202));
    expect(told).toEqual(Array(STEADY_JOBS).fill('200 completed'));
    expect(residentMost - residentBefore).toBeLessThan(RESIDENT);
    await system.referee.expectNoViolations();

    // What waits and what is kept of it, each with its payloads.
    const allowed = 2 * HELD.maxBytes + (HELD.depth + 2 * HELD.kept) * PER_JOB + FIXED;
    expect(most - before).toBeLessThan(allowed);

    // Nothing of it stays, once nobody lets it wait any more.
    const headers = { authorization: `Bearer ${ADMIN_KEY}`, 'content-type': 'application/json' };
    const purged = await fetch(`${api.url}/v1/tenants/${HOSTILE}/purge`, { method: 'POST', headers, body: '{}' });
    expect(purged.status).toBe(200);
    const left = async () => (await client.keys('*')).filter((key) => key.includes(HOSTILE));
    await expect.poll(left, { timeout: 100_000, interval: 500 }).toEqual([]);
  });
});
