import { fileURLToPath } from 'node:url';
import { MessageChannel } from 'node:worker_threads';
import { Piscina } from 'piscina';
import { messageOf } from '../message-of.js';
import type { Performer, Work, WorkTerms } from '../perform.js';
import { serveContext } from './near-context.js';
import type { ThreadReply, ThreadTask } from './thread.js';
import { fromThrown } from './thrown.js';

export interface ThreadOptions extends WorkTerms {
  /** Absolute path of the handler, which each thread loads for itself. */
  readonly file: string;
  readonly timeoutMs?: number;
  /** Threads at most; there is one for each job that runs. */
  readonly threads: number;
  /** Largest heap of a thread, in bytes. */
  readonly memoryBytes: number;
  /** Told of a thread that died while it had nothing to do. */
  readonly onError: (error: unknown) => void;
  /** What runs in each thread. */
  readonly entry?: URL;
}

/** A thread that has had nothing to do for so long ends. */
const IDLE_MS = 30_000;
const ENTRY = new URL('./thread.js', import.meta.url);
const MB = 1024 * 1024;

/**
 * Runs a handler in threads of their own, so that one that computes without a pause holds up nothing but itself. A thread
 * that dies (it exits, runs out of memory, throws where nobody catches) fails the job that it had, and that alone; one that is
 * abandoned is ended, whatever it does.
 */
export function inThreads({
  file,
  timeoutMs,
  threads,
  memoryBytes,
  onError,
  entry,
  ...terms
}: ThreadOptions): Performer {
  const pool = new Piscina({
    filename: fileURLToPath(entry ?? ENTRY),
    minThreads: 0,
    maxThreads: threads,
    idleTimeout: IDLE_MS,
    // A thread that waits for its next job would stand still otherwise, with all that the last one left open.
    atomics: 'disabled',
    resourceLimits: { maxOldGenerationSizeMb: Math.ceil(memoryBytes / MB) },
  });
  pool.on('error', onError);

  const perform = async ({ job, payload, ctx, abandoned }: Work): Promise<string> => {
    const { port1: near, port2: far } = new MessageChannel();
    const end = serveContext(near, ctx);
    const task: ThreadTask = { file, terms, job, payload, running: ctx.running, port: far };
    try {
      const reply = await runIn(pool, task, abandoned);
      if ('json' in reply) return reply.json;
      throw fromThrown(reply.thrown);
    } finally {
      end();
    }
  };
  return { ...(timeoutMs !== undefined && { timeoutMs }), perform, close: () => pool.destroy() };
}

async function runIn(pool: Piscina, task: ThreadTask, abandoned: AbortSignal): Promise<ThreadReply> {
  try {
    return await pool.run(task, { transferList: [task.port], signal: abandoned });
  } catch (error) {
    throw new Error(`its thread died: ${messageOf(error)}`, { cause: error });
  }
}
