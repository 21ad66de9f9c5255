import { setTimeout as wait } from 'node:timers/promises';
import { defineHandler, Unrecoverable } from '../handler.js';

/** The longest work that `data.ms` may ask for. */
const MAX_WORK_MS = 60_000;

/** Returns its payload, after `data.ms` milliseconds of pretended work (0 to 60,000, default 0). */
export default defineHandler({
  run: async (job, ctx) => {
    const ms = workMs(job.data);
    if (ms > 0) await wait(ms, undefined, { signal: ctx.signal });
    return job.data;
  },
});

function workMs(data: unknown): number {
  if (typeof data !== 'object' || data === null || !('ms' in data)) return 0;
  const { ms } = data;
  if (typeof ms === 'number' && ms >= 0 && ms <= MAX_WORK_MS) return ms;
  throw new Unrecoverable(`data.ms: expected a number of milliseconds from 0 to ${MAX_WORK_MS}`);
}
