import type { Outcome } from '../src/shaping/work-source.js';
import { type Backoff, backoffMs } from './backoff.js';
import { busyUpstream, type Handler, type HandlerContext, type HandlerJob, isUnrecoverable } from './handler.js';

/** Why a run is asked to end early; the handler finds it as `signal.reason`. */
export type StopReason = 'timeout' | 'cancelled' | 'shutdown' | 'lock lost';

/** How the jobs of one type are run. */
export interface RunPlan {
  readonly handler: Handler;
  /** The type's timeout; the handler's own goes first. */
  readonly timeoutMs: number;
  /** How often a job is tried in all. */
  readonly attempts: number;
  readonly backoff: Backoff;
  /** For how long a busy upstream holds a bucket or the type at most. */
  readonly maxHoldMs: number;
  /** How often a job may come back from a busy upstream before that counts as a failed attempt. */
  readonly maxReturns: number;
  readonly options: Readonly<Record<string, unknown>>;
  /** Largest result that is stored, in bytes of JSON. */
  readonly maxResultBytes: number;
  /** How long a handler may go on after its signal was aborted, before it is abandoned. */
  readonly abandonAfterMs: number;
}

/** What a run is about: the job without its payload, which may be no JSON at all. */
export type RunJob = Omit<HandlerJob, 'data' | 'options'>;

/**
 * One run of one job. It always comes to an outcome: a handler that throws, times out, returns what cannot be stored, or
 * goes on after it was asked to stop cannot do otherwise.
 */
export class Run {
  readonly job: RunJob;
  readonly #payload: string;
  readonly #plan: RunPlan;
  readonly #returns: number;
  readonly #stop = new AbortController();
  #reason: StopReason | undefined;

  /** @param returns How often the job came back from a busy upstream. */
  constructor(job: RunJob, payload: string, plan: RunPlan, returns = 0) {
    this.job = job;
    this.#payload = payload;
    this.#plan = plan;
    this.#returns = returns;
  }

  /** Asks the handler to end; the first reason stands. */
  stop(reason: StopReason): void {
    this.#reason ??= reason;
    this.#stop.abort(this.#reason);
  }

  /** Runs the handler. Never rejects. */
  async outcome(services: Pick<HandlerContext, 'log' | 'progress' | 'charge'>): Promise<Outcome> {
    const timeoutMs = this.#plan.handler.timeoutMs ?? this.#plan.timeoutMs;
    const timer = setTimeout(() => this.stop('timeout'), timeoutMs);
    const startedAtMs = Date.now();
    const ctx: HandlerContext = {
      signal: this.#stop.signal,
      ...services,
      running: { startedAtMs, deadlineAtMs: startedAtMs + timeoutMs },
    };
    try {
      const data = parsePayload(this.#payload);
      const job: HandlerJob = { ...this.job, data, options: this.#plan.options };
      return this.#completed(await this.#orAbandoned(Promise.resolve(this.#plan.handler.run(job, ctx))));
    } catch (error) {
      return this.#unfinished(error, timeoutMs);
    } finally {
      clearTimeout(timer);
    }
  }

  /** The handler's promise, or a rejection once it has gone on for too long after its signal was aborted. */
  #orAbandoned<Value>(work: Promise<Value>): Promise<Value> {
    const { signal } = this.#stop;
    return new Promise<Value>((resolve, reject) => {
      let grace: NodeJS.Timeout | undefined;
      const onAbort = (): void => {
        const abandon = () => reject(new Error(`abandoned: went on after its signal was aborted (${signal.reason})`));
        grace = setTimeout(abandon, this.#plan.abandonAfterMs);
      };
      if (signal.aborted) onAbort();
      signal.addEventListener('abort', onAbort, { once: true });
      work.then(resolve, reject).finally(() => {
        clearTimeout(grace);
        signal.removeEventListener('abort', onAbort);
      });
    });
  }

  #completed(result: unknown): Outcome {
    const json = toJson(result);
    if ('problem' in json) return { kind: 'failed', value: `the result cannot be stored: ${json.problem}` };
    const bytes = Buffer.byteLength(json.text);
    if (bytes <= this.#plan.maxResultBytes) return { kind: 'completed', value: json.text };
    const { maxResultBytes } = this.#plan;
    return { kind: 'failed', value: `the result cannot be stored: ${bytes} bytes of JSON, at most ${maxResultBytes}` };
  }

  #unfinished(error: unknown, timeoutMs: number): Outcome {
    const reason = this.#reason;
    if (reason === 'cancelled') return { kind: 'cancelled', value: 'cancelled' };
    if (reason === 'shutdown') return { kind: 'return', value: 'the worker was shutting down' };
    const busy = reason === undefined ? busyUpstream(error) : undefined;
    if (busy && this.#returns < this.#plan.maxReturns) {
      const holdMs = Math.ceil(Math.min(busy.retryAfterMs, this.#plan.maxHoldMs));
      return { kind: 'busy', value: messageOf(error), holdMs, scope: busy.scope };
    }
    const value = reason === 'timeout' ? `timed out after ${timeoutMs} ms` : messageOf(error);
    if (error instanceof BadPayload || isUnrecoverable(error) || this.job.attempt >= this.#plan.attempts) {
      return { kind: 'failed', value };
    }
    return { kind: 'retry', value, delayMs: backoffMs(this.#plan.backoff, this.job.attempt), front: false };
  }
}

class BadPayload extends Error {}

function parsePayload(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new BadPayload(`the payload is not JSON: ${messageOf(error)}`);
  }
}

function toJson(value: unknown): { text: string } | { problem: string } {
  try {
    return { text: JSON.stringify(value) ?? 'null' };
  } catch (error) {
    return { problem: messageOf(error) };
  }
}

const MAX_REASON_LENGTH = 2000;

function messageOf(error: unknown): string {
  const text = error instanceof Error ? error.message || error.name : String(error);
  return text.slice(0, MAX_REASON_LENGTH);
}
