import type { RunJob } from '../src/shaping/run-job.js';
import { type Handler, type HandlerContext, Unrecoverable } from './handler.js';
import { messageOf } from './message-of.js';

/** One job that is to be done. */
export interface Work {
  readonly job: RunJob;
  /** JSON, as far as anybody knows. */
  readonly payload: string;
  readonly ctx: HandlerContext;
  /** Aborts when nobody waits for the result any more. */
  readonly abandoned: AbortSignal;
}

/** What does the work of one type: its handler, in this thread or in others. */
export interface Performer {
  /** The handler's own timeout in milliseconds; it goes before the type's. */
  readonly timeoutMs?: number;
  /** Does one job and returns its result, JSON. Rejects with what the handler threw, or with {@link Unrecoverable}. */
  perform(work: Work): Promise<string>;
  /** Gives back what was opened. Nothing may be under way. */
  close(): Promise<void>;
}

/** What the jobs of a type have in common. */
export interface WorkTerms {
  readonly options: Readonly<Record<string, unknown>>;
  /** Largest result that is stored, in bytes of JSON. */
  readonly maxResultBytes: number;
}

/** Runs a handler in this thread, which it shares with everything else of the process. */
export function inProcess(handler: Handler, terms: WorkTerms): Performer {
  return {
    ...(handler.timeoutMs !== undefined && { timeoutMs: handler.timeoutMs }),
    perform: ({ job, payload, ctx }) => perform(handler, terms, { job, payload, ctx }),
    close: async () => handler.close?.(),
  };
}

/** One run of a handler, from the stored payload to the result as it will be stored. */
export async function perform(
  handler: Handler,
  { options, maxResultBytes }: WorkTerms,
  { job, payload, ctx }: Omit<Work, 'abandoned'>,
): Promise<string> {
  const data = parsePayload(payload);
  const json = toJson(await handler.run({ ...job, data, options }, ctx));
  const bytes = Buffer.byteLength(json);
  if (bytes <= maxResultBytes) return json;
  throw new Unrecoverable(`the result cannot be stored: ${bytes} bytes of JSON, at most ${maxResultBytes}`);
}

function parsePayload(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Unrecoverable(`the payload is not JSON: ${messageOf(error)}`);
  }
}

function toJson(value: unknown): string {
  try {
    return JSON.stringify(value) ?? 'null';
  } catch (error) {
    throw new Unrecoverable(`the result cannot be stored: ${messageOf(error)}`);
  }
}
