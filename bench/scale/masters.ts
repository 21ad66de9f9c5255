import { DEFAULT_PROFILE } from '../../dist/src/model/profile.js';
import { startCluster, withClient } from '../../test/support/redis-cluster.js';
import { perJobUs, redisCpu } from '../core/probe.js';
import { middle, shown, table } from '../markdown.js';
import { startOwnPoolOnCluster } from '../own-pool.js';
import { inParallel } from './in-parallel.js';
import { untilCompleted } from './until-completed.js';

/**
 * What a job costs each master of a cluster of 1, 2 and 3, in CPU time; prints a table of `bench/README.md`. `[RUNS]`, 3. Each
 * master keeps an append-only file, synced each second.
 */
const RUNS = Number(process.argv[2] ?? 3);
const MASTERS = [1, 2, 3];
const SHARDS = 16;
const TENANTS = 1000;
const JOBS = 20_000;
const SLOTS = 100;

/** Microseconds per job. */
interface Spent {
  /** Of each master, the busiest first. */
  readonly redisUs: readonly number[];
  readonly nodeUs: number;
}

async function spentOn(masters: number): Promise<Spent> {
  const cluster = await startCluster(masters);
  const cpu = () => Promise.all(cluster.nodes.map((node) => withClient(node, redisCpu)));
  try {
    for (const node of cluster.nodes) {
      await withClient(node, (redis) =>
        redis.config('SET', 'appendfsync', 'everysec', 'auto-aof-rewrite-percentage', '0'),
      );
    }
    const profile = { ...DEFAULT_PROFILE, ratePerSecond: Number.POSITIVE_INFINITY, depth: 1_000_000 };
    const keepResults = { ageMs: 3_600_000, count: 1000 };
    const target = { cluster: cluster.addresses };
    const bench = await startOwnPoolOnCluster(target, SHARDS, { profile, slots: SLOTS, keepResults });
    const [before, nodeBefore] = [await cpu(), process.cpuUsage()];
    await inParallel(100, JOBS, (i) => bench.admit(`tenant-${i % TENANTS}`));
    await untilCompleted(bench, JOBS);
    const [node, after] = [process.cpuUsage(nodeBefore), await cpu()];
    await bench.stop();
    const spent = after.map((seconds, i) => perJobUs(seconds - (before[i] ?? 0), JOBS));
    return {
      redisUs: spent.toSorted((one, other) => other - one),
      nodeUs: perJobUs((node.user + node.system) / 1e6, JOBS),
    };
  } finally {
    await cluster.stop();
  }
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, each) => total + each, 0);
const taken = new Map<number, Spent[]>(MASTERS.map((masters) => [masters, []]));
await spentOn(1); // So that the first row is not the one in which everything is compiled.
for (let run = 0; run < RUNS; run += 1) {
  for (const [masters, all] of taken) {
    process.stderr.write(`run ${run + 1}, ${masters} masters\n`);
    all.push(await spentOn(masters));
  }
}
const rows = [...taken].map(([masters, all]) => [
  String(masters),
  shown(middle(all, ({ redisUs }) => sum(redisUs))),
  shown(middle(all, ({ redisUs }) => redisUs[0] ?? Number.NaN)),
  shown(middle(all, ({ redisUs }) => redisUs.at(-1) ?? Number.NaN)),
  shown(middle(all, ({ nodeUs }) => nodeUs)),
]);
const header = ['masters', 'Redis, all together', 'the busiest master', 'the idlest', 'Node'];
process.stdout.write(`${table(header, ...rows)}\n`);
