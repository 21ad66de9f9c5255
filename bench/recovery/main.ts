import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DEFAULT_PROFILE } from '../../dist/src/model/profile.js';
import { startRedis } from '../../test/support/redis-server.js';
import { shown, table } from '../markdown.js';
import { startOwnPool } from '../own-pool.js';
import { median } from '../statistics.js';

/**
 * What durability costs, and how soon a Redis that was killed with fifty thousand jobs waiting starts the first again.
 * `[RUNS]`, 3; prints the rows of `bench/README.md`.
 */
const RUNS = Number(process.argv[2] ?? 3);
const ADMITTED = 4000;
const CALLERS = 64;
const WAITING = 50_000;
const TENANTS = 500;

const profile = { ...DEFAULT_PROFILE, ratePerSecond: 1, depth: 1e6, maxBytes: 1e9 };
const pool = (socketPath: string, run: () => unknown) =>
  startOwnPool(socketPath, { profile, slots: 10, keepResults: { ageMs: 3_600_000, count: 1000 }, run });

/** Runs `act` over a Redis with an append-only file in a folder of its own. */
async function inFolder<Result>(act: (dir: string) => Promise<Result>): Promise<Result> {
  const dir = await mkdtemp(join(tmpdir(), 'hg-recovery-'));
  try {
    return await act(dir);
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

const redisArgs = (appendfsync: string) => ['--appendfsync', appendfsync, '--auto-aof-rewrite-percentage', '0'];

/** Jobs a second that many callers admit, one a call. */
function admissionsPerSecond(appendfsync: 'always' | 'everysec'): Promise<number> {
  return inFolder(async (dir) => {
    const server = await startRedis({ dir, appendonly: true, args: redisArgs(appendfsync) });
    const bench = await pool(server.socketPath, () => null);
    let left = ADMITTED;
    const startedAt = performance.now();
    await Promise.all(
      Array.from({ length: CALLERS }, async (_, caller) => {
        while (left-- > 0) await bench.admit(`t${caller}`);
      }),
    );
    const seconds = (performance.now() - startedAt) / 1000;
    await bench.stop();
    await server.stop();
    return ADMITTED / seconds;
  });
}

/** Milliseconds from the restart of a killed Redis until it has read its file, and until a job of it runs. */
function restart(): Promise<{ loadedMs: number; firstMs: number }> {
  return inFolder(async (dir) => {
    const options = { dir, appendonly: true, args: redisArgs('everysec') };
    const killed = await startRedis(options);
    let started: () => void = () => undefined;
    const first = new Promise<void>((resolve) => {
      started = resolve;
    });
    const bench = await pool(killed.socketPath, () => started());
    const jobs = Array.from({ length: WAITING / TENANTS }, () => ({}));
    for (let tenant = 0; tenant < TENANTS; tenant += 1) await bench.admit(`t${tenant}`, jobs);
    await killed.kill();
    await bench.pool.start();
    const startedAt = performance.now();
    const server = await startRedis(options);
    const loadedMs = performance.now() - startedAt;
    await first;
    const firstMs = performance.now() - startedAt;
    await bench.stop();
    await server.stop();
    return { loadedMs, firstMs };
  });
}

const ratios: number[] = [];
const restarts: Awaited<ReturnType<typeof restart>>[] = [];
for (let run = 0; run < RUNS; run += 1) {
  const everysec = await admissionsPerSecond('everysec');
  const always = await admissionsPerSecond('always');
  ratios.push(always / everysec);
  process.stderr.write(`${Math.round(always)} jobs/s with always, ${Math.round(everysec)} with everysec\n`);
  restarts.push(await restart());
}
process.stdout.write(
  `${table(
    ['measured', 'value'],
    [`admissions/s of ${CALLERS} callers with \`always\` ÷ with \`everysec\``, shown(median(ratios))],
    [
      `${shown(WAITING)} jobs waiting: restart of Redis to its file read, and to the first dispatch`,
      `${shown(median(restarts.map(({ loadedMs }) => loadedMs)))} ms, ${shown(median(restarts.map(({ firstMs }) => firstMs)))} ms`,
    ],
  )}\n`,
);
