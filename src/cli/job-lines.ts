import type { EndedJob, Job, JobEvent, ListedJob, StartPromise, SubmittedJob } from '../client/index.js';
import { hasEnded } from '../client/index.js';
import { table } from './remote.js';

/** A job that was taken, in a line: its id first, for whoever cuts it out. */
export function submittedLine(job: SubmittedJob): string {
  return `${job.id}  ${job.state}${promiseText(job)}${job.replayed ? ', was there already' : ''}`;
}

/** All that is worth saying of a job. */
export function jobLines(job: Job): string[] {
  return table([
    ['id', job.id],
    ['type', job.type],
    ['tenant', job.tenant],
    ['state', `${job.state}${promiseText(job)}`],
    ['priority', job.priority],
    ['cost', job.cost],
    ['attempts', job.attempts],
    ['created', job.createdAt],
    ['started', job.startedAt],
    ['ended', job.endedAt],
    ...(job.startBy === null ? [] : [['startBy', job.startBy]]),
    ...(job.progress === null || hasEnded(job) ? [] : [['progress', JSON.stringify(job.progress)]]),
    ...(job.state === 'completed' ? [['result', JSON.stringify(job.result)]] : []),
    ...('error' in job && job.error !== undefined ? [['error', job.error]] : []),
  ]);
}

/** A page of jobs as a table. */
export function listLines(jobs: readonly ListedJob[]): string[] {
  if (jobs.length === 0) return [];
  const rows = jobs.map((job) => [job.id, job.state, job.priority, job.cost, job.attempts, job.createdAt]);
  return table([['id', 'state', 'priority', 'cost', 'attempts', 'created'], ...rows]);
}

/** How a job ended, in a line. */
export function endLine(job: EndedJob | null): string {
  if (job === null) return 'ended; nothing is kept of it';
  if (job.state === 'completed') return `completed: ${JSON.stringify(job.result)}`;
  return job.error === undefined ? job.state : `${job.state}: ${job.error}`;
}

/** An event of a job, in a line; output as the handler emitted it. */
export function eventLine(event: JobEvent): string {
  switch (event.event) {
    case 'state':
      return `${event.job.state}${promiseText(event.job)}${event.job.attempts > 1 ? `, attempt ${event.job.attempts}` : ''}`;
    case 'promise':
      return `promised anew${promiseText(event.promise)}`;
    case 'progress':
      return `progress ${JSON.stringify(event.progress)}`;
    case 'output':
      return typeof event.chunk === 'string' ? event.chunk : JSON.stringify(event.chunk);
    case 'end':
      return endLine(event.job);
  }
}

function promiseText({ position, releaseAt, waitMs, basis }: StartPromise): string {
  if (basis === null) return '';
  if (releaseAt === null) return ', paused';
  const place = position === null ? '' : `, number ${position}`;
  return `${place}, starts ${releaseAt} (in ${((waitMs ?? 0) / 1000).toFixed(1)} s, by ${basis})`;
}
