import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { numberField } from '../referee/json-field.js';
import type { Witness } from '../referee/witness.js';
import type { HeadgateProcess } from '../support/headgate-process.js';
import { startRedis, type TestRedis } from '../support/redis-server.js';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.js';
import { ADMIN_KEY, idOf, type RefereedSystem, refereedSystem } from './support/refereed-system.js';
import { runningOf } from './support/running-jobs.js';

/** Redis may take 2 s to answer; a caller that waits for longer than this was left hanging. */
const HANGING_MS = 10_000;
const CALLERS = 4;
const job = { type: 'a', tenant: 'acme', cost: 1, data: { workMs: 100 } };

/** The ways in which a network keeps Redis away. */
const WAYS = {
  'refuses connections': (proxy) => proxy.refuse(),
  'resets connections': async (proxy) => proxy.reset(),
  'swallows packets': async (proxy) => proxy.swallow(),
} as const satisfies Record<string, (proxy: TcpProxy) => Promise<void>>;

let system: RefereedSystem;
let redis: TestRedis;
let proxy: TcpProxy;
let headgate: HeadgateProcess;
let witness: Witness;

beforeAll(async () => {
  redis = await startRedis();
  proxy = await startTcpProxy(redis.socketPath);
  system = await refereedSystem(
    {
      redis: proxy.url,
      lockDuration: '2s',
      stalledInterval: '500ms',
      types: { a: { keepResults: { count: 100_000 } } },
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
afterEach(() => proxy.pass());
afterAll(async () => {
  await system?.end();
  await proxy?.stop();
  await redis?.stop();
});

interface Answer {
  readonly status: number;
  readonly retryAfter: string | null;
}

/** One request, which must be answered before its caller would call it hanging. */
async function ask(path: string): Promise<Answer> {
  const headers = { authorization: `Bearer ${ADMIN_KEY}` };
  const response = await fetch(`${headgate.url}${path}`, { headers, signal: AbortSignal.timeout(HANGING_MS) });
  await response.arrayBuffer();
  return { status: response.status, retryAfter: response.headers.get('retry-after') };
}

const readiness = async (): Promise<number> => (await ask('/readyz')).status;

/** Callers that add jobs without a pause until they are told to end. */
function load(): { readonly accepted: string[]; readonly statuses: Set<number>; end(): Promise<void> } {
  const accepted: string[] = [];
  const statuses = new Set<number>();
  let loading = true;
  const callers = Array.from({ length: CALLERS }, async () => {
    while (loading) {
      const answer = await witness.enqueue(job);
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

async function startsAfter(instant: number, count: number): Promise<void> {
  await system.referee.until(
    (trace) => trace.filter((event) => event.kind === 'start' && event.at > instant).length >= count,
  );
}

describe.each([
  { seconds: 1, way: 'refuses connections', busy: true },
  { seconds: 1, way: 'swallows packets', busy: false },
  { seconds: 6, way: 'swallows packets', busy: true },
  { seconds: 6, way: 'resets connections', busy: false },
  { seconds: 15, way: 'resets connections', busy: true },
  { seconds: 15, way: 'swallows packets', busy: false },
  { seconds: 60, way: 'swallows packets', busy: true },
  { seconds: 60, way: 'refuses connections', busy: false },
] as const)('a network that $way for $seconds s, busy: $busy', ({ seconds, way, busy }) => {
  it('costs no job, and all goes on by itself', async () => {
    const { referee } = system;
    const callers = busy ? load() : undefined;
    if (busy) await startsAfter(referee.now(), 10);
    const from = referee.now();
    await WAYS[way](proxy);
    const over = Date.now() + seconds * 1000;
    const answers: Answer[] = [];
    const posts: number[] = [];
    const ready: number[] = [];
    // What is shorter than the time in which an answer may still come is not seen by all.
    while (Date.now() < over) {
      const asked = Date.now();
      if (seconds > 5) {
        // At once: each may take the whole of its deadline.
        const asking = [ask('/v1/quote?type=a&tenant=acme'), witness.enqueue(job), readiness()] as const;
        const [answer, { status }, readyStatus] = await Promise.all(asking);
        answers.push(answer);
        posts.push(status);
        ready.push(readyStatus);
      }
      await pause(Math.min(over - Date.now(), Math.max(50, asked + 1000 - Date.now())));
    }
    await proxy.pass();
    await expect.poll(readiness).toBe(200);
    const again = referee.now();
    expect((await witness.enqueue(job)).status).toBe(202);
    await startsAfter(again, busy ? 10 : 1);
    referee.recordOutage({ from, to: referee.now(), note: `the network ${way} for ${seconds} s` });
    await callers?.end();
    await witness.followToEnds(90_000);

    // An answer that was under way when the network came back may be one of success.
    expect(new Set(answers.slice(0, -1).map(({ status }) => status))).toEqual(new Set(seconds > 5 ? [503] : []));
    for (const { status, retryAfter } of answers) {
      if (status === 503) expect(Number(retryAfter)).toBeGreaterThanOrEqual(1);
    }
    expect([...posts.slice(0, -1), ...ready.slice(0, -1)].filter((status) => status !== 503)).toEqual([]);
    expect([...(callers?.statuses ?? [])].filter((status) => status !== 202 && status !== 503)).toEqual([]);
    await expect.poll(() => runningOf(system, headgate.url, 'a')).toBe(0);
    const states = (await referee.trace()).flatMap((event) => (event.kind === 'sight' ? [event.state] : []));
    expect(states.filter((state) => state === 'failed')).toEqual([]);
    const verdict = await referee.expectNoViolations();
    const ends = verdict.judgements.find(({ guarantee }) => guarantee === 'G5');
    expect(numberField(ends, 'judged')).toBeGreaterThanOrEqual(callers?.accepted.length ?? 1);
  });
});
