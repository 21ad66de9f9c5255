import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { numberField } from '../referee/json-field.js';
import type { Witness } from '../referee/witness.js';
import type { HeadgateProcess } from '../support/headgate-process.js';
import { startRedis, type TestRedis } from '../support/redis-server.js';
import { ADMIN_KEY, idOf, type RefereedSystem, refereedSystem } from './support/refereed-system.js';
import { runningOf } from './support/running-jobs.js';

/** Redis may take 2 s to answer; a caller that waits for longer than this was left hanging. */
const HANGING_MS = 10_000;

let system: RefereedSystem;
let headgate: HeadgateProcess;
let witness: Witness;
let port: number;
const servers: TestRedis[] = [];

beforeAll(async () => {
  port = await closedPort();
  system = await refereedSystem(
    {
      redis: `redis://127.0.0.1:${port}`,
      lockDuration: '2s',
      stalledInterval: '500ms',
      types: { a: { keepResults: { count: 10_000 } } },
      tiers: { only: { rate: '50/s', burst: 5 } },
      defaultTier: 'only',
    },
    {
      separateClocks: true,
      types: [{ type: 'a', slots: 4 }],
      buckets: [],
      otherwise: { ratePerSecond: 50, burst: 5, depth: 1000 },
    },
    { arrivalMs: 500, lateMs: 500 },
  );
  headgate = await system.folder.start('start', ['--concurrency', 'a=4']);
  witness = system.witness(headgate.url);
}, 120_000);
afterAll(async () => {
  await system?.end();
  for (const server of servers.toReversed()) await server.stop();
});

const job = { type: 'a', tenant: 'acme', cost: 1, data: { workMs: 10 } };

async function readyz(): Promise<number> {
  return (await fetch(`${headgate.url}/readyz`, { signal: AbortSignal.timeout(HANGING_MS) })).status;
}

async function post(): Promise<Response> {
  return fetch(`${headgate.url}/v1/jobs`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ADMIN_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ type: 'a', tenant: 'acme', data: {} }),
    signal: AbortSignal.timeout(HANGING_MS),
  });
}

const untilReady = () => expect.poll(readyz).toBe(200);

describe('a start without the Redis that is configured', () => {
  it('says so in one line of each process, and stays up', async () => {
    await headgate.until(() => headgate.said('redis is away; trying again').length >= 2, 'both processes said it');
    await pause(1500); // Some further attempts to connect, which are nobody's news.
    expect(headgate.said('redis is away; trying again')).toHaveLength(2);
    expect(headgate.lines.filter((line) => !line.startsWith('{'))).toEqual([]);
    expect(headgate.isRunning).toBe(true);
    expect((await fetch(`${headgate.url}/healthz`)).status).toBe(200);
  });

  it('answers 503: /readyz, and a job with Retry-After', async () => {
    expect(await readyz()).toBe(503);
    const answer = await post();
    expect(answer.status).toBe(503);
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    expect(answer.headers.get('content-type')).toContain('application/problem+json');
    expect(await answer.json()).toMatchObject({ code: 'redis_unavailable' });
  });

  it('becomes ready by itself when Redis is there, and works', async () => {
    const { referee } = system;
    const from = referee.now();
    servers.push(await startRedis({ port, appendonly: true }));
    await untilReady();
    expect((await witness.enqueue(job)).status).toBe(202);
    await witness.followToEnds();
    // Workers look for Redis on their own, up to some 1.3 s apart.
    referee.recordOutage({ from, to: referee.now(), note: 'Redis was started, and workers found it' });
    expect((await witness.enqueue(job)).status).toBe(202);
    await witness.followToEnds();
    await system.referee.expectNoViolations();
  });
});

describe('Redis killed with kill -9 under load, and started again over its data', () => {
  it('costs no job that was accepted, and workers resume by themselves', async () => {
    const { referee } = system;
    const [before] = servers;
    if (before === undefined) throw new Error('Redis was started before');
    let loading = true;
    const statuses: number[] = [];
    const accepted: string[] = [];
    const load = (async () => {
      while (loading) {
        const answer = await witness.enqueue(job);
        statuses.push(answer.status);
        if (answer.status === 202) accepted.push(idOf(answer));
        await pause(answer.status === 202 ? 5 : 50);
      }
    })();
    const startsSince = (instant: number) => (trace: Awaited<ReturnType<typeof referee.trace>>) =>
      trace.filter((event) => event.kind === 'start' && event.at > instant).length >= 20;

    await referee.until(startsSince(0));
    const from = referee.now();
    await before.kill();
    await expect.poll(() => statuses.at(-1)).toBe(503);
    servers.push(await startRedis({ port, dir: before.dir, appendonly: true }));
    await untilReady();
    await referee.until(startsSince(referee.now()));
    referee.recordOutage({ from, to: referee.now(), note: 'Redis was killed and started again' });
    loading = false;
    await load;
    await witness.followToEnds(60_000);

    expect(accepted.length).toBeGreaterThan(30);
    expect(statuses.filter((status) => status !== 202 && status !== 503)).toEqual([]);
    await expect.poll(() => runningOf(system, headgate.url, 'a')).toBe(0);
    const verdict = await referee.expectNoViolations();
    const ends = verdict.judgements.find(({ guarantee }) => guarantee === 'G5');
    expect(numberField(ends, 'judged')).toBeGreaterThanOrEqual(accepted.length);
  });
});

/** A loopback port on which nobody listens. */
async function closedPort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const address = probe.address();
  probe.close();
  await once(probe, 'close');
  if (address === null || typeof address === 'string') throw new Error('no port could be had');
  return address.port;
}
