import { startRedis } from '../../test/support/redis-server.js';
import { inChild } from '../in-child.js';
import { median } from '../statistics.js';
import type { Lateness } from './lateness.js';
import type { Cost } from './probe.js';
import type { Quiet } from './quiet.js';

/** Runs every measurement of the core side by side on one Redis and prints the table of `bench/README.md`; `[RUNS]`, 5. */
const RUNS = Number(process.argv[2] ?? 5);

type Throughput = { admission: Cost; dispatch: Cost };

const server = await startRedis();

const take = inChild(new URL('measure.ts', import.meta.url));
const measure = <Result>(name: string, options: object): Promise<Result> =>
  take<Result>(name, server.socketPath, options);

const rate = (jobs: number, { wallS }: Cost): number => jobs / wallS;
const us = (jobs: number, seconds: number): string => ((seconds * 1e6) / jobs).toFixed(0);
const mid = (values: readonly number[]): string => median(values).toFixed(2);
const of = <Item>(items: readonly Item[], read: (item: Item) => number): string => mid(items.map(read));

try {
  const jobs = 20_000;
  const rows = {
    plain: [] as Throughput[],
    few: [] as Throughput[],
    many: [] as Throughput[],
    most: [] as Throughput[],
  };
  const perTenant: { dispatch: Cost; connections: number }[] = [];
  const thousand: Throughput[] = [];
  for (let i = 0; i < RUNS; i += 1) {
    rows.plain.push(await measure('bullmq', { jobs, slots: 100 }));
    rows.few.push(await measure('headgate', { tenants: 100, jobs, slots: 100 }));
    rows.many.push(await measure('headgate', { tenants: 10_000, jobs, slots: 100 }));
    thousand.push(await measure('headgate', { tenants: 1000, jobs: 10_000, slots: 100 }));
    perTenant.push(await measure('worker-per-tenant', { tenants: 1000, jobs: 10_000 }));
  }
  // The longest by far.
  for (let i = 0; i < Math.min(RUNS, 3); i += 1) {
    rows.most.push(await measure('headgate', { tenants: 100_000, jobs: 100_000, slots: 100 }));
  }
  const quiet = [await measure<Quiet>('quiet', { tenants: 10 }), await measure<Quiet>('quiet', { tenants: 10_000 })];
  const late = await measure<Lateness>('lateness', { tenants: 500, seconds: 60 });

  const ratio = (a: Throughput[], n: number, b: Throughput[], m: number): string =>
    mid(a.map((x, i) => rate(n, x.dispatch) / rate(m, b[i]?.dispatch ?? x.dispatch)));
  const cpu = ({ dispatch }: Throughput): number => dispatch.redisCpuS + dispatch.nodeCpuS;
  const line = (...cells: string[]): string => `| ${cells.join(' | ')} |`;
  const costRow = (name: string, items: Throughput[], n: number): string =>
    line(
      name,
      us(n, Number(of(items, ({ admission }) => admission.redisCpuS))),
      us(n, Number(of(items, ({ admission }) => admission.nodeCpuS))),
      us(n, Number(of(items, ({ dispatch }) => dispatch.redisCpuS))),
      us(n, Number(of(items, ({ dispatch }) => dispatch.nodeCpuS))),
      of(items, ({ dispatch }) => rate(n, dispatch)),
    );
  process.stdout.write(
    [
      line('measured', 'value'),
      line('---', '---'),
      line('jobs/s at 10,000 tenants ÷ one plain queue and Worker', ratio(rows.many, jobs, rows.plain, jobs)),
      line(
        'jobs/s at 1,000 tenants ÷ one Worker per tenant',
        mid(thousand.map((x, i) => rate(10_000, x.dispatch) / rate(10_000, perTenant[i]?.dispatch ?? x.dispatch))),
      ),
      line(
        'CPU per job at 100,000 tenants ÷ at 100',
        mid(rows.most.map((x, i) => cpu(x) / 100_000 / (cpu(rows.few[i] ?? x) / jobs))),
      ),
      line('connections of a worker at 10 and at 10,000 tenants', quiet.map((q) => q.connections).join(' and ')),
      line('connections with one Worker per tenant, 1,000 tenants', String(perTenant[0]?.connections)),
      line('commands/s while idle, 10,000 quiet tenants', String(quiet[1]?.idleCommandsPerSecond)),
      line('keys a quiet tenant leaves', String(quiet[1]?.keysLeftPerTenant)),
      line(
        `start against the ideal schedule, ${late.starts} starts of 500 tenants at 1/s: p50, p99 (ms)`,
        `${late.p50Ms.toFixed(1)}, ${late.p99Ms.toFixed(1)}`,
      ),
      line('largest error of a tenant’s rate over 60 s', `${(late.worstRateError * 100).toFixed(2)} %`),
      '',
      line('', 'Redis µs to admit', 'Node µs to admit', 'Redis µs to dispatch and settle', 'Node µs', 'jobs/s'),
      line('---', '---', '---', '---', '---', '---'),
      costRow('plain BullMQ queue and Worker', rows.plain, jobs),
      costRow('Headgate, 100 tenants', rows.few, jobs),
      costRow('Headgate, 10,000 tenants', rows.many, jobs),
      costRow('Headgate, 100,000 tenants', rows.most, 100_000),
      '',
    ].join('\n'),
  );
} finally {
  await server.stop();
}
