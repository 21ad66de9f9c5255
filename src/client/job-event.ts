import type { EndedJob, Job, StartPromise } from './job.js';
import type { Message } from './message-reader.js';

/** What a stream tells of a job. */
export type JobEvent<Result = unknown> =
  /** At once, after every reconnect, and whenever the state or the number of attempts is another. */
  | { readonly event: 'state'; readonly job: Job<Result> }
  /** Its promised start is later by `movedMs`, or earlier where that is below 0; `null` where nobody knows. */
  | { readonly event: 'promise'; readonly promise: StartPromise & { readonly movedMs: number | null } }
  | { readonly event: 'progress'; readonly progress: unknown }
  /** A chunk of output, each once and in order; `run` counts the job's starts, and a new run starts its output anew. */
  | { readonly event: 'output'; readonly id: string; readonly run: number; readonly chunk: unknown }
  /** The last event; `null` where nothing is kept of the job any more. */
  | { readonly event: 'end'; readonly job: EndedJob<Result> | null };

/** The event that a message is; undefined for one that this client does not know. */
export function jobEventOf<Result>({ event, data, id }: Message): JobEvent<Result> | undefined {
  switch (event) {
    case 'state':
      return { event, job: JSON.parse(data) };
    case 'promise':
      return { event, promise: JSON.parse(data) };
    case 'progress': {
      const { progress }: { progress: unknown } = JSON.parse(data);
      return { event, progress };
    }
    case 'output': {
      const { run, chunk }: { run: number; chunk: unknown } = JSON.parse(data);
      return { event, id, run, chunk };
    }
    case 'end': {
      const job: EndedJob<Result> | { readonly state: null } = JSON.parse(data);
      return { event, job: job.state === null ? null : job };
    }
    default:
      return undefined;
  }
}
