import { setTimeout as pause } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { numberField } from '../referee/json-field.js';
import type { Trace } from '../referee/trace.js';
import type { Witness } from '../referee/witness.js';
import type { HeadgateProcess } from '../support/headgate-process.js';
import { startRedis, type TestRedis } from '../support/redis-server.js';
import { freePort } from './support/free-port.js';
import { ADMIN_KEY, idOf, type RefereedSystem, refereedSystem } from './support/refereed-system.js';
import { runningOf } from './support/running-jobs.js';

/** Redis may take 2 s to answer; a caller that waits for longer than this was left hanging. */
const HANGING_MS = 10_000;
const CALLERS = 4;
/** Jobs that are at work when Redis begins to refuse, and are done before it ends. */
const HELD_MS = 1000;
const REFUSES_MS = 3000;
/** Of a Redis that reads its file: so many commands that it takes as long as a refusal. */
const EXTRA_COMMANDS = 30_000;

let system: RefereedSystem;
let redis: TestRedis;
let headgate: HeadgateProcess;
let witness: Witness;
const options = { appendonly: true, args: ['--enable-debug-command', 'local', '--maxmemory-policy', 'noeviction'] };

beforeAll(async () => {
  const port = await freePort();
  redis = await startRedis({ ...options, port });
  system = await refereedSystem(
    {
      redis: `redis://127.0.0.1:${port}`,
      // Longer than everything here: a job that runs twice was settled wrongly.
      lockDuration: '60s',
      types: { a: { keepResults: { count: 100_000 } } },
      tiers: { only: { rate: '50/s', burst: 5 } },
      defaultTier: 'only',
    },
    {
      separateClocks: true,
      types: [{ type: 'a', slots: 8 }],
      buckets: [],
      otherwise: { ratePerSecond: 50, burst: 5, depth: 1000 },
    },
    { arrivalMs: 500, lateMs: 500 },
  );
  headgate = await system.folder.start('start', ['--concurrency', 'a=8']);
  witness = system.witness(headgate.url);
}, 120_000);
afterAll(async () => {
  await system?.end();
  await redis?.stop();
});

const job = (tenant: string, workMs: number) => ({ type: 'a', tenant, cost: 1, data: { workMs } });

async function readiness(): Promise<unknown> {
  const answer = await fetch(`${headgate.url}/readyz`, { signal: AbortSignal.timeout(HANGING_MS) });
  const { status } = Object(await answer.json());
  return answer.status === 200 ? status : answer.status;
}

/** What a job is answered. */
const status = async (): Promise<number> => (await witness.enqueue(job('acme', 50))).status;

/** A job as any client would send it, while none is taken: the referee does not hear of it. */
async function post(): Promise<{ status: number; retryAfter: number; code: unknown }> {
  const answer = await fetch(`${headgate.url}/v1/jobs`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ADMIN_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ type: 'a', tenant: 'asking', data: {} }),
    signal: AbortSignal.timeout(HANGING_MS),
  });
  const { code } = Object(await answer.json());
  return { status: answer.status, retryAfter: Number(answer.headers.get('retry-after')), code };
}

/** Callers that add jobs without a pause until they are told to end. */
function load() {
  const accepted: string[] = [];
  const statuses = new Set<number>();
  let loading = true;
  const callers = Array.from({ length: CALLERS }, async () => {
    while (loading) {
      const answer = await witness.enqueue(job('acme', 50));
      statuses.add(answer.status);
      if (answer.status === 202) accepted.push(idOf(answer));
      await pause(50);
    }
  });
  const end = async (): Promise<void> => {
    loading = false;
    await Promise.all(callers);
  };
  return { accepted, statuses, end };
}

const admins: Redis[] = [];
function adminOf(server: TestRedis): Redis {
  const admin = server.client();
  admins.push(admin);
  return admin;
}

/** Makes Redis refuse, calls `look` while it does, and makes it serve again. */
type Refusal = (look: () => Promise<void>) => Promise<void>;

const REFUSALS: readonly { name: string; code: string; ready: unknown; refuse: Refusal }[] = [
  {
    name: 'is read-only (READONLY)',
    code: 'redis_unavailable',
    ready: 503,
    refuse: async (look) => {
      const admin = adminOf(redis);
      await admin.replicaof('127.0.0.1', 1);
      await look();
      await admin.replicaof('NO', 'ONE');
    },
  },
  {
    name: 'has reached its maxmemory (OOM)',
    code: 'memory_full',
    ready: 'degraded',
    refuse: async (look) => {
      const admin = adminOf(redis);
      await admin.config('SET', 'maxmemory', '1');
      await look();
      await admin.config('SET', 'maxmemory', '0');
    },
  },
  {
    name: 'reads its file after a kill -9 (LOADING)',
    code: 'redis_unavailable',
    ready: 503,
    refuse: async (look) => {
      const { dir, port } = redis;
      if (port === undefined) throw new Error('it was started on a port');
      const filling = redis.client();
      const extra = filling.pipeline();
      for (let n = 0; n < EXTRA_COMMANDS; n += 1) extra.set('extra', n);
      await extra.exec();
      for (const client of [filling, ...admins.splice(0)]) client.disconnect();
      await redis.kill();
      const delayUs = Math.ceil((REFUSES_MS * 1000) / EXTRA_COMMANDS);
      const starting = startRedis({ ...options, dir, port, args: [...options.args, '--key-load-delay', `${delayUs}`] });
      const probe = redis.client({ enableReadyCheck: false, retryStrategy: () => 20 });
      probe.on('error', () => undefined);
      const loading = expect.poll(() => probe.ping().catch(String)).toMatch(/LOADING/);
      await Promise.all([loading.then(look), starting]);
      redis = await starting;
    },
  },
];

describe.each(REFUSALS)('a Redis that $name, under load', ({ code, ready, refuse }) => {
  it('costs no job and fails none, and all goes on by itself', async () => {
    const { referee } = system;
    const callers = load();
    const held = await Promise.all([1, 2].map(() => witness.enqueue(job('held', HELD_MS)).then(idOf)));
    await referee.until((trace) => held.every((id) => runsOf(trace, id).length === 1));
    const from = referee.now();
    const answers: Awaited<ReturnType<typeof post>>[] = [];
    const seen: unknown[] = [];
    await refuse(async () => {
      await expect.poll(status).toBe(503);
      await expect.poll(readiness).toBe(ready);
      for (const until = Date.now() + REFUSES_MS / 2; Date.now() < until; await pause(100)) {
        answers.push(await post());
        seen.push(await readiness());
      }
    });
    await expect.poll(readiness).toBe('ready');
    await expect.poll(status).toBe(202);
    const again = referee.now();
    await referee.until((trace) => trace.filter((event) => event.kind === 'start' && event.at > again).length >= 10);
    referee.recordOutage({ from, to: referee.now(), note: 'Redis refused' });
    await callers.end();
    await witness.followToEnds(90_000);

    expect(answers.length).toBeGreaterThan(0);
    expect(
      answers.filter((answer) => answer.status !== 503 || answer.code !== code || !(answer.retryAfter >= 1)),
    ).toEqual([]);
    expect(seen.filter((each) => each !== ready)).toEqual([]);
    expect(callers.statuses).toEqual(new Set([202, 503]));
    for (const id of held) {
      expect((await witness.look('held', id)).body).toMatchObject({ state: 'completed', attempts: 1 });
      const [ended, ...more] = runsOf(await referee.trace(), id);
      expect(ended, 'its handler was done while Redis refused').toSatisfy((at: number) => at > from && at < again);
      expect(more).toEqual([]);
    }
    await expect.poll(() => runningOf(system, headgate.url, 'a')).toBe(0);
    const states = (await referee.trace()).flatMap((event) => (event.kind === 'sight' ? [event.state] : []));
    expect(states).not.toContain('failed');
    const verdict = await referee.expectNoViolations();
    const ends = verdict.judgements.find(({ guarantee }) => guarantee === 'G5');
    expect(numberField(ends, 'judged')).toBeGreaterThanOrEqual(callers.accepted.length);
  });
});

describe('a Redis whose memory is above its mark', () => {
  it('takes no job, and what waits goes on', async () => {
    const { referee } = system;
    const waiting = Array.from({ length: 200 }, () => job('patient', 10));
    expect((await witness.enqueueBatch('patient', waiting)).every(({ status }) => status === 202)).toBe(true);
    const admin = adminOf(redis);
    const used = Number(/^used_memory:(\d+)/m.exec(await admin.info('memory'))?.[1]);
    await admin.config('SET', 'maxmemory', Math.round(used / 0.95));
    await expect.poll(status).toBe(503);
    expect(await readiness()).toBe('degraded');
    const from = referee.now();
    await referee.until((trace) => trace.filter((event) => event.kind === 'start' && event.at > from).length >= 50);
    expect(await post()).toMatchObject({ status: 503, code: 'memory_full', retryAfter: expect.any(Number) });
    await admin.config('SET', 'maxmemory', '0');
    await expect.poll(status).toBe(202);
    await witness.followToEnds(90_000);
    await referee.expectNoViolations();
  });
});

describe('a Redis that forgets its functions and scripts (NOSCRIPT), under load', () => {
  it('is given them again, and no caller notices', async () => {
    const { referee } = system;
    const callers = load();
    const admin = adminOf(redis);
    for (let times = 0; times < 5; times += 1) {
      await Promise.all([admin.function('FLUSH'), admin.script('FLUSH')]);
      const at = referee.now();
      await referee.until((trace) => trace.filter((event) => event.kind === 'start' && event.at > at).length >= 10);
    }
    await callers.end();
    await witness.followToEnds(90_000);
    expect(callers.statuses).toEqual(new Set([202]));
    await expect.poll(() => runningOf(system, headgate.url, 'a')).toBe(0);
    await referee.expectNoViolations();
  });
});

/** When each run of a job ended; undefined of one that has not. */
function runsOf(trace: Trace, id: string): (number | undefined)[] {
  const ends = new Map(trace.flatMap((event) => (event.kind === 'end' ? [[event.run, event.at]] : [])));
  return trace.flatMap((event) => (event.kind === 'start' && event.job === id ? [ends.get(event.run)] : []));
}
