import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ChildCommand, ChildPool, ParentCommand } from 'bullmq';
import { inThreads } from '../../dist/workers/threads/in-threads.js';
import { shown, table } from '../markdown.js';
import { median, quantile } from '../statistics.js';

/**
 * What a job costs that runs in a thread of its own: by piscina, as Headgate does it, and by BullMQ's sandbox, spoken to as its
 * Worker does. `[RUNS] [JOBS]`, 3 and 3,000; prints the rows of `bench/README.md`.
 */
const RUNS = Number(process.argv[2] ?? 3);
const JOBS = Number(process.argv[3] ?? 3000);
const HANDLER = fileURLToPath(new URL('./handler.mjs', import.meta.url));
const PROCESSOR = fileURLToPath(new URL('./processor.mjs', import.meta.url));
const BULLMQ = dirname(createRequire(import.meta.url).resolve('bullmq'));

/** Runs one job that does nothing; `close` ends what was opened for it. */
interface Contender {
  run(): Promise<unknown>;
  close(): Promise<unknown>;
}

const nothing = async (): Promise<void> => undefined;
const silence = (): void => undefined;

function headgate(): Contender {
  const terms = { options: {}, maxResultBytes: 1000, memoryBytes: 512 * 1024 * 1024 };
  const performer = inThreads({ file: HANDLER, threads: 1, onError: silence, ...terms });
  const { signal } = new AbortController();
  const job = { id: 'a', type: 't', tenant: 'one', attempt: 1, cost: 1 };
  const log = { debug: silence, info: silence, warn: silence, error: silence };
  const running = { startedAtMs: 0, deadlineAtMs: 0 };
  const ctx = { signal, running, log, progress: nothing, emit: nothing, charge: nothing };
  return {
    run: () => performer.perform({ job, payload: '{}', ctx, abandoned: signal }),
    close: () => performer.close(),
  };
}

function sandbox(useWorkerThreads: boolean): Contender {
  const mainFile = join(BULLMQ, 'classes', useWorkerThreads ? 'main-worker.js' : 'main.js');
  const pool = new ChildPool({ mainFile, useWorkerThreads });
  return {
    run: async () => {
      const child = await pool.retain(PROCESSOR);
      const done = new Promise<void>((resolve, reject) => {
        const listener = ({ cmd, value }: { cmd: ParentCommand; value: unknown }): void => {
          child.off('message', listener);
          if (cmd === ParentCommand.Completed) resolve();
          else reject(new Error(JSON.stringify(value)));
        };
        child.on('message', listener);
      });
      await child.send({ cmd: ChildCommand.Start, job: { id: 'a', data: '{}', opts: {} }, token: 't' });
      await done;
      pool.release(child);
    },
    close: () => pool.clean(),
  };
}

const CONTENDERS: Readonly<Record<string, () => Contender>> = {
  'a thread by piscina, as Headgate uses it': headgate,
  "a thread by BullMQ's sandbox": () => sandbox(true),
  "a process by BullMQ's sandbox": () => sandbox(false),
};

/** Milliseconds until the first job was done, then of each of many, and microseconds of CPU of this process, threads included, a job. */
async function measure(contender: Contender) {
  const startedAt = performance.now();
  await contender.run();
  const firstMs = performance.now() - startedAt;
  const times: number[] = [];
  const before = process.cpuUsage();
  for (let n = 0; n < JOBS; n += 1) {
    const at = performance.now();
    await contender.run();
    times.push(performance.now() - at);
  }
  const { user, system } = process.cpuUsage(before);
  await contender.close();
  return { firstMs, p50Ms: median(times), p99Ms: quantile(times, 0.99), cpuUs: (user + system) / JOBS };
}

const found = new Map(Object.keys(CONTENDERS).map((name) => [name, [] as Awaited<ReturnType<typeof measure>>[]]));
for (let run = 0; run < RUNS; run += 1) {
  for (const [name, make] of Object.entries(CONTENDERS)) found.get(name)?.push(await measure(make()));
}
const rows = [...found].map(([name, all]) => [
  name,
  ...(['firstMs', 'p50Ms', 'p99Ms', 'cpuUs'] as const).map((each) => shown(median(all.map((one) => one[each])))),
]);
process.stdout.write(`${table(['one job after the other', 'first, ms', 'p50 ms', 'p99 ms', 'CPU µs'], ...rows)}\n`);
process.exit(0);
