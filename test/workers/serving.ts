import { DEFAULT_CAPACITY } from '../../src/model/profile.js';
import { openConnection, untilReady } from '../../src/redis/connection.js';
import { Subscriber } from '../../src/redis/subscriber.js';
import { PermitDesk } from '../../src/shaping/permit-desk.js';
import type { EndedRun } from '../../src/shaping/run-job.js';
import { TypeSource } from '../../src/shaping/type-source.js';
import type { WorkSource } from '../../src/shaping/work-source.js';
import type { Handler } from '../../workers/handler.js';
import { inProcess } from '../../workers/perform.js';
import { Pool } from '../../workers/pool.js';
import type { RunPlan } from '../../workers/run.js';
import { Runner } from '../../workers/runner.js';

export interface ServeOptions {
  readonly socketPath: string;
  /** The shards of the type, in their order. */
  readonly source: (redis: ReturnType<typeof openConnection>) => WorkSource | readonly WorkSource[];
  readonly run: Handler['run'];
  readonly slots: number;
  readonly plan?: Partial<RunPlan>;
  readonly lockMs?: number;
  readonly stalledIntervalMs?: number;
  readonly beforeWork?: () => Promise<void>;
}

const quiet = (): void => undefined;
const LOG = { debug: quiet, info: quiet, warn: quiet, error: quiet };

/** A pool of one type over connections of its own, and what it told. */
export async function serve(options: ServeOptions) {
  const { socketPath, slots, lockMs = 30_000, stalledIntervalMs = 60_000 } = options;
  const open = (name: string) => openConnection({ socketPath }, { name, deadlineMs: 500 });
  const [commands, messages] = [open('worker'), open('worker-wake')];
  await Promise.all([untilReady(commands), untilReady(messages)]);
  const plan: RunPlan = {
    performer: inProcess({ run: options.run }, { options: {}, maxResultBytes: 1000 }),
    timeoutMs: 60_000,
    attempts: 3,
    backoff: { type: 'fixed', delayMs: 0, maxMs: 0 },
    retry: 'back',
    maxHoldMs: 60_000,
    maxReturns: 10,
    abandonAfterMs: 100,
    ...options.plan,
  };
  const shards = [options.source(commands)].flat();
  const [first] = shards;
  if (first === undefined) throw new RangeError('a type has one shard at least');
  const permits = new PermitDesk(commands, first.tag, { capacity: DEFAULT_CAPACITY }, shards);
  const runner = new Runner(new TypeSource(shards, permits), slots, plan, () => LOG);
  const { beforeWork = async () => undefined } = options;
  const locks = { lockMs, stalledIntervalMs, maxStalled: 1 };
  const pool = new Pool(commands, new Subscriber(messages), [runner], { ...locks, beforeWork });
  const ended: EndedRun[] = [];
  const errors: unknown[] = [];
  runner.on('ended', (run) => ended.push(run));
  pool.on('error', (error) => errors.push(error));
  await pool.start();
  return {
    pool,
    runner,
    ended,
    errors,
    async close(graceMs = 0): Promise<void> {
      await pool.stop(graceMs);
      commands.disconnect();
      messages.disconnect();
    },
  };
}
