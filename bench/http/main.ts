import { startRedis } from '../../test/support/redis-server.js';
import { inChild } from '../in-child.js';
import { middle, ratio, shown, table } from '../markdown.js';
import { serveBare } from './bare-api.js';
import { CONNECTIONS, cannon, type Load } from './cannon.js';
import { serveApi } from './served-api.js';
import type { Waiters } from './waiters.js';
import type { Waits } from './waits.js';

/**
 * Measures the HTTP surface of one API process beside in-process BullMQ, on one Redis, and prints the tables of
 * `bench/README.md`. `[RUNS]`, 3, and `[SCALE]`, 1: with 0.1 all of it takes a tenth of the time, for a trial.
 */
const RUNS = Number(process.argv[2] ?? 3);
const SCALE = Number(process.argv[3] ?? 1);
const SECONDS = Math.max(3, Math.round(10 * SCALE));
const WAITS = Math.round(1000 * SCALE);
const WAITERS = Math.round(10_000 * SCALE);
const BATCH = 100;
/** Ends spread over some seconds, and as fast as a worker goes. */
const RATES = ['200/s', 'unlimited'] as const;

const JOB = { type: 'bench', data: { n: 1 } };

const server = await startRedis();
const { socketPath } = server;
const take = inChild(new URL('measure.ts', import.meta.url));

/** A process that was just started is several times slower for some seconds. */
const WARM_SECONDS = 5;

/** Posts to an API process of its own, over an emptied Redis, once it is warm. */
async function posts(path: string, body: object): Promise<Load> {
  process.stderr.write(`POST ${path}\n`);
  await server.flush();
  const served = await serveApi(socketPath, 'unlimited');
  try {
    return await warmLoad(`${served.api.url}${path}`, body);
  } finally {
    await served.stop();
  }
}

/** The same to a route that only answers. */
async function barePosts(): Promise<Load> {
  process.stderr.write('POST to a bare route\n');
  const bare = await serveBare();
  try {
    return await warmLoad(`${bare.url}/v1/jobs`, JOB);
  } finally {
    await bare.stop();
  }
}

async function warmLoad(url: string, body: object): Promise<Load> {
  await cannon(url, body, WARM_SECONDS);
  return await cannon(url, body, SECONDS);
}

try {
  const rows = { add: [] as Load[], bare: [] as Load[], single: [] as Load[], batch: [] as Load[] };
  const waits = RATES.map((rate) => ({ rate, taken: [] as Waits[] }));
  const waiters: Waiters[] = [];
  for (let i = 0; i < RUNS; i += 1) {
    rows.add.push(await take<Load>('add', socketPath, { seconds: SECONDS }));
    rows.bare.push(await barePosts());
    rows.single.push(await posts('/v1/jobs', JOB));
    rows.batch.push(await posts('/v1/jobs/batch', { jobs: Array(BATCH).fill(JOB) }));
    for (const { rate, taken } of waits) {
      await server.flush();
      taken.push(await take<Waits>('waits', socketPath, { calls: WAITS, rate }));
    }
    await server.flush();
    waiters.push(await take<Waiters>('waiters', socketPath, { waiters: WAITERS }));
  }
  const perSecond = ({ requestsPerSecond }: Load): number => requestsPerSecond;
  const loadRow = (name: string, loads: readonly Load[], jobs: number): string[] => [
    name,
    shown(middle(loads, perSecond) * jobs),
    shown(middle(loads, ({ p50Ms }) => p50Ms)),
    shown(middle(loads, ({ p99Ms }) => p99Ms)),
  ];
  const megabytes = (read: (item: Waiters) => number): string => `${shown(middle(waiters, read) / 1e6)} MB`;
  process.stdout.write(
    [
      table(
        ['measured', 'value'],
        ['`POST /v1/jobs` ÷ in-process `queue.add` of BullMQ', shown(ratio(rows.single, rows.add, perSecond))],
        ['a bare route of fastify that only answers ÷ `queue.add`', shown(ratio(rows.bare, rows.add, perSecond))],
        ['`POST /v1/jobs` ÷ the bare route', shown(ratio(rows.single, rows.bare, perSecond))],
        [`jobs/s in batches of ${BATCH} ÷ one by one`, shown(ratio(rows.batch, rows.single, perSecond) * BATCH)],
        ...waits.map(({ rate, taken }) => [
          `${WAITS} calls with \`Prefer: wait\`, jobs at ${rate}: from the end to the answer, p50 and p99`,
          `${shown(middle(taken, ({ p50Ms }) => p50Ms))} ms, ${shown(middle(taken, ({ p99Ms }) => p99Ms))} ms`,
        ]),
        [`memory of the API process, nobody waiting`, megabytes(({ idleBytes }) => idleBytes)],
        [`the same with ${WAITERS} who wait`, megabytes(({ waitingBytes }) => waitingBytes)],
        [
          'for each of them',
          `${shown(middle(waiters, (each) => (each.waitingBytes - each.idleBytes) / each.waiters / 1000))} kB`,
        ],
        [
          'from the end of their jobs to all of their answers, p50 and p99',
          `${shown(middle(waiters, ({ p50Ms }) => p50Ms))} ms, ${shown(middle(waiters, ({ p99Ms }) => p99Ms))} ms`,
        ],
      ),
      '',
      table(
        [`${CONNECTIONS} at a time`, 'jobs/s', 'p50 ms', 'p99 ms'],
        loadRow('`queue.add`, in process', rows.add, 1),
        loadRow('a bare route', rows.bare, 1),
        loadRow('`POST /v1/jobs`', rows.single, 1),
        loadRow(`\`POST /v1/jobs/batch\`, ${BATCH} jobs each`, rows.batch, BATCH),
      ),
      '',
    ].join('\n'),
  );
} finally {
  await server.stop();
}
