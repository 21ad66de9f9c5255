import { startRedis } from '../../test/support/redis-server.js';
import type { Cost } from '../core/probe.js';
import { perJobUs } from '../core/probe.js';
import { inChild } from '../in-child.js';
import { middle, shown, table } from '../markdown.js';
import type { JobBytes, JobBytesOptions } from './job-bytes.js';
import type { Registered, RegisteredOptions } from './registered.js';

/**
 * What jobs cost beside ever more tenants, and what they weigh; prints the tables of `bench/README.md`. `[RUNS]`, 3, and
 * `[MOST]`, 1,000,000: the most tenants there are. Redis keeps an append-only file, synced each second.
 */
const RUNS = Number(process.argv[2] ?? 3);
const MOST = Number(process.argv[3] ?? 1_000_000);

const REGISTERED = [100, 10_000, 100_000, 1_000_000].filter((count) => count <= MOST);
const ACTIVE = 10_000;
const JOBS = 20_000;

const WEIGHED: readonly JobBytesOptions[] = [
  { tenants: 100, jobsPerTenant: 100, payloadBytes: 100 },
  { tenants: 100, jobsPerTenant: 100, payloadBytes: 1000 },
  { tenants: 100, jobsPerTenant: 100, payloadBytes: 10_000 },
  { tenants: 10_000, jobsPerTenant: 1, payloadBytes: 100 },
];

const take = inChild(new URL('measure.ts', import.meta.url));

/** Takes one measurement on a Redis of its own. */
async function onRedis<Result>(name: string, options: object): Promise<Result> {
  const args = ['--appendfsync', 'everysec', '--auto-aof-rewrite-percentage', '0'];
  const server = await startRedis({ appendonly: true, args });
  try {
    return await take<Result>(name, server.socketPath, options);
  } finally {
    await server.stop();
  }
}

const rows = new Map<number, Registered[]>(REGISTERED.map((count) => [count, []]));
for (let i = 0; i < RUNS; i += 1) {
  for (const [registered, taken] of rows) {
    const options: RegisteredOptions = { registered, active: Math.min(ACTIVE, registered), jobs: JOBS };
    taken.push(await onRedis<Registered>('registered', options));
  }
}
const weights: [JobBytesOptions, JobBytes][] = [];
for (const options of WEIGHED) weights.push([options, await onRedis<JobBytes>('job-bytes', options)]);

const us = (
  taken: readonly Registered[],
  read: (item: Registered) => Cost,
  account: 'redisCpuS' | 'nodeCpuS',
): number => middle(taken, (item) => perJobUs(read(item)[account], JOBS));
const count = (value: number): string => value.toLocaleString('en');

const redisOf = (taken: readonly Registered[]): number =>
  us(taken, ({ admission }) => admission, 'redisCpuS') + us(taken, ({ dispatch }) => dispatch, 'redisCpuS');
const [least = []] = rows.values();
const costs = [...rows].map(([registered, taken]) => {
  const admit = us(taken, ({ admission }) => admission, 'redisCpuS');
  const run = us(taken, ({ dispatch }) => dispatch, 'redisCpuS');
  const node = [us(taken, ({ admission }) => admission, 'nodeCpuS'), us(taken, ({ dispatch }) => dispatch, 'nodeCpuS')];
  return [
    ...[count(registered), count(Math.min(ACTIVE, registered)), shown(admit), shown(run), shown(redisOf(taken))],
    (redisOf(taken) / redisOf(least)).toFixed(2),
    ...[...node.map(shown), shown(middle(taken, ({ bytesPerTenant }) => bytesPerTenant))],
  ];
});
const bytes = weights.map(
  ([{ tenants, jobsPerTenant, payloadBytes }, { waiting, ended, left, keysLeft, eventsBytes }]) => [
    ...[count(tenants), count(jobsPerTenant), count(payloadBytes), shown(waiting), shown(ended)],
    ...[String(keysLeft), shown(left), shown(eventsBytes)],
  ],
);
process.stdout.write(
  [
    table(
      [
        'registered',
        'active',
        'Redis, admit',
        'Redis, dispatch and settle',
        'Redis',
        '÷ the fewest',
        'Node, admit',
        'Node, dispatch',
        'bytes',
      ],
      ...costs,
    ),
    '',
    table(['tenants', 'jobs each', 'payload', 'waiting', 'ended', 'keys left', 'left in all', 'events'], ...bytes),
    '',
  ].join('\n'),
);
