import { afterFailure, type RetryPlan } from '../src/model/failed-run.js';
import type { RetryTerms } from '../src/model/verdict.js';
import type { RunJob, RunTerms } from '../src/shaping/run-job.js';
import type { Outcome } from '../src/shaping/work-source.js';
import { busyUpstream, type HandlerContext, isUnrecoverable } from './handler.js';
import { LateSignal } from './late-signal.js';
import { messageOf } from './message-of.js';
import type { Performer, Work } from './perform.js';

/** Why a run is asked to end early; the handler finds it as `signal.reason`. */
export type StopReason = 'timeout' | 'cancelled' | 'shutdown' | 'lock lost';

/** How the jobs of one type are run. */
export interface RunPlan extends RetryPlan {
  readonly performer: Performer;
  /** The type's timeout; the handler's own goes first. */
  readonly timeoutMs: number;
  /** How long a handler may go on after its signal was aborted, before it is abandoned. */
  readonly abandonAfterMs: number;
}

/**
 * One run of one job. It always comes to an outcome: a handler that throws, times out, returns what cannot be stored, or
 * goes on after it was asked to stop cannot do otherwise.
 */
export class Run {
  readonly job: RunJob;
  readonly #payload: string;
  readonly #plan: RunPlan;
  readonly #returns: number;
  readonly #retries: RetryTerms;
  readonly #stop = new LateSignal();
  readonly #abandoned = new LateSignal();
  #reason: StopReason | undefined;
  /** What to do when the run is asked to stop. */
  #onStop: (() => void) | undefined;

  constructor(job: RunJob, payload: string, plan: RunPlan, { returns = 0, retries = {} }: RunTerms = {}) {
    this.job = job;
    this.#payload = payload;
    this.#plan = plan;
    this.#returns = returns;
    this.#retries = retries;
  }

  /** Asks the handler to end; the first reason stands. */
  stop(reason: StopReason): void {
    if (this.#reason !== undefined) return;
    this.#reason = reason;
    this.#stop.abort(reason);
    this.#onStop?.();
  }

  /** Runs the handler. Never rejects. */
  async outcome(services: Pick<HandlerContext, 'log' | 'progress' | 'emit' | 'charge'>): Promise<Outcome> {
    const timeoutMs = this.#plan.performer.timeoutMs ?? this.#plan.timeoutMs;
    const timer = setTimeout(() => this.stop('timeout'), timeoutMs);
    const startedAtMs = Date.now();
    const [stop, abandoned] = [this.#stop, this.#abandoned];
    const ctx: HandlerContext = {
      ...services,
      get signal() {
        return stop.signal;
      },
      running: { startedAtMs, deadlineAtMs: startedAtMs + timeoutMs },
    };
    const work: Work = {
      ...{ job: this.job, payload: this.#payload, ctx },
      get abandoned() {
        return abandoned.signal;
      },
    };
    try {
      return { kind: 'completed', value: await this.#orAbandoned(this.#plan.performer.perform(work)) };
    } catch (error) {
      return this.#unfinished(error, timeoutMs);
    } finally {
      clearTimeout(timer);
    }
  }

  /** What the work comes to, or a rejection once it has gone on for too long after its signal was aborted. */
  #orAbandoned<Value>(work: Promise<Value>): Promise<Value> {
    return new Promise<Value>((resolve, reject) => {
      let grace: NodeJS.Timeout | undefined;
      const onStop = (): void => {
        grace = setTimeout(() => {
          reject(new Error(`abandoned: went on after its signal was aborted (${this.#reason})`));
          this.#abandoned.abort();
        }, this.#plan.abandonAfterMs);
      };
      const over = (): void => {
        clearTimeout(grace);
        this.#onStop = undefined;
      };
      this.#onStop = onStop;
      if (this.#reason !== undefined) onStop();
      work.then(
        (value) => {
          over();
          resolve(value);
        },
        (error: unknown) => {
          over();
          reject(error);
        },
      );
    });
  }

  #unfinished(error: unknown, timeoutMs: number): Outcome {
    const reason = this.#reason;
    if (reason === 'cancelled') return { kind: 'cancelled', value: 'cancelled' };
    if (reason === 'shutdown') return { kind: 'return', value: 'the worker was shutting down' };
    const failure = {
      message: reason === 'timeout' ? `timed out after ${timeoutMs} ms` : messageOf(error),
      busy: reason === undefined ? busyUpstream(error) : undefined,
      final: isUnrecoverable(error),
      attempt: this.job.attempt,
      returns: this.#returns,
      retries: this.#retries,
    };
    return afterFailure(failure, this.#plan);
  }
}
