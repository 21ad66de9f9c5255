import type { MessagePort } from 'node:worker_threads';
import type { RunJob } from '../../src/shaping/run-job.js';
import type { Handler, RunningInfo } from '../handler.js';
import { loadHandler } from '../load-handler.js';
import { perform, type WorkTerms } from '../perform.js';
import { farContext } from './far-context.js';
import { type Thrown, toThrown } from './thrown.js';

/** One job for a thread. */
export interface ThreadTask {
  /** Absolute path of the handler. */
  readonly file: string;
  readonly terms: WorkTerms;
  readonly job: RunJob;
  readonly payload: string;
  readonly running: RunningInfo;
  /** To the worker's end of the run. */
  readonly port: MessagePort;
}

/** What became of it: the result, JSON, or what was thrown. */
export type ThreadReply = { readonly json: string } | { readonly thrown: Thrown };

/** Loaded once in each thread, also where that fails. */
let loaded: { readonly file: string; readonly handler: Promise<Handler> } | undefined;

/** What runs in each thread: one job of one handler at a time. */
export default async function runInThread(task: ThreadTask): Promise<ThreadReply> {
  const { file, terms, job, payload, running, port } = task;
  const { ctx, heard } = farContext(port, running);
  try {
    if (loaded?.file !== file) loaded = { file, handler: loadHandler(file) };
    return { json: await perform(await loaded.handler, terms, { job, payload, ctx }) };
  } catch (error) {
    return { thrown: toThrown(error) };
  } finally {
    // A result goes another way than what was said before it, and may overtake it.
    await heard();
    port.close();
  }
}
