/**
 * What a handler is: the code that does one type's work. A handler file default-exports what {@link defineHandler}
 * returns, or a plain object of that shape, and may stand anywhere on disk.
 */

/** One job as its handler sees it. */
export interface HandlerJob {
  readonly id: string;
  readonly type: string;
  readonly tenant: string;
  /** The caller's payload: whatever JSON it sent. Check it before use. */
  readonly data: unknown;
  /** 1 for the first run, one more for each further one. */
  readonly attempt: number;
  /** Units that the job takes from its bucket, as far as is known. */
  readonly cost: number;
  /** Follows the request from the caller through the API's log to this one. */
  readonly requestId?: string;
  /** The type's own settings from the configuration, passed through as they stand; empty when there are none. */
  readonly options: Readonly<Record<string, unknown>>;
}

/** Writes one line: a message, or fields and a message. */
export interface LogLine {
  (message: string): void;
  (fields: object, message?: string): void;
}

/** A logger in the manner of pino, already labelled with the job. */
export interface HandlerLog {
  readonly debug: LogLine;
  readonly info: LogLine;
  readonly warn: LogLine;
  readonly error: LogLine;
}

/** The run that is under way. Instants are wall-clock milliseconds since 1970, by this machine's clock. */
export interface RunningInfo {
  readonly startedAtMs: number;
  /** When `signal` aborts because the time is up; `null` without a timeout. */
  readonly deadlineAtMs: number | null;
}

/** What a handler may use while it runs. */
export interface HandlerContext {
  /** Aborts at the timeout, when the job is cancelled and when the worker must leave; `reason` says which. */
  readonly signal: AbortSignal;
  /** Stores how far the job is, as any JSON value; readers of the job see the latest. */
  progress(value: unknown): Promise<void>;
  /**
   * Sends a piece of the output to whoever follows the job, while it is still being made: a text or any other JSON value,
   * at most 64 KB of JSON each and 1 MB in all. Texts that come close together may arrive as one. It is kept as long as the
   * result; another run starts anew. Who waits for it is held up only while Redis does not keep up; no run ends before its
   * output has arrived.
   *
   * @throws TypeError At once, for what is no JSON, or too much of it.
   */
  emit(chunk: unknown): Promise<void>;
  /**
   * Says what the job really costs, once that is known: 0.001 to 10,000 units, more or less than was thought. May be called
   * again and again; the last word counts, for the rate, for fair shares and for the promises to what waits, and a retry
   * starts from it. Nobody needs to wait for it: no run ends before its last word has arrived.
   *
   * @throws TypeError At once, for anything but a number in range.
   */
  charge(cost: number): Promise<void>;
  readonly log: HandlerLog;
  readonly running: RunningInfo;
}

/** The code behind a type. */
export interface Handler {
  /** Milliseconds after which `signal` aborts and the attempt fails; the type's configured timeout when absent. */
  readonly timeoutMs?: number;
  /**
   * Runs it in a thread of its own, with at most the type's `threadMemory`: for what computes long without a pause. The file
   * is loaded in each thread; it is given no `close`, for a thread ends with all that it holds.
   */
  readonly isolate?: boolean;
  /**
   * Does one job and returns its result, any JSON value. A rejection fails the attempt, and the type's `attempts` says
   * whether there is another; {@link Unrecoverable} allows no other, {@link UpstreamBusy} uses none. It may run again after a crash: make it repeatable.
   */
  readonly run: (job: HandlerJob, ctx: HandlerContext) => unknown;
  /**
   * Looks at a type's `options` when the worker starts. What it throws is said at once, and every attempt fails with it.
   */
  readonly check?: (options: Readonly<Record<string, unknown>>) => void;
  /** Gives back what the handler opened. Called once, when the worker process closes and nothing runs any more. */
  readonly close?: () => void | Promise<void>;
}

/** Names a handler's shape to the compiler; returns it as it is. */
export function defineHandler(handler: Handler): Handler {
  return handler;
}

/** Thrown by a handler when another attempt cannot help, as for input that will never be good: the job fails for good. */
export class Unrecoverable extends Error {
  override readonly name = 'Unrecoverable';
}

/**
 * True when `error` allows no further attempt. It goes by the error's name: a handler file may hold its own copy of the
 * class or none at all, and BullMQ's `UnrecoverableError` means the same.
 */
export function isUnrecoverable(error: unknown): boolean {
  return error instanceof Error && (error.name === 'Unrecoverable' || error.name === 'UnrecoverableError');
}

/** What starts nothing while an upstream is busy: the job's bucket, or its type with all tenants. */
export type BusyScope = 'bucket' | 'type';

/**
 * Thrown by a handler whose upstream takes nothing for a while (an answer 429 or 503 with Retry-After): the job goes back to
 * the front of its priority as if it had not started, without using an attempt, and nothing of its bucket starts for
 * `retryAfterMs`; with `scope: 'type'` nothing of its type, of any tenant. A hold lasts no longer than the type's `maxHold`,
 * and a job that came back `maxReturns` times uses an attempt like any that failed.
 */
export class UpstreamBusy extends Error {
  override readonly name = 'UpstreamBusy';
  /** 0 or more; `Infinity` for as long as may be. */
  readonly retryAfterMs: number;
  readonly scope: BusyScope;

  /** @throws TypeError When `retryAfterMs` or `scope` is something else. */
  constructor(retryAfterMs: number, options: { readonly scope?: BusyScope; readonly cause?: unknown } = {}) {
    const { scope = 'bucket', ...rest } = options;
    super(`the upstream is busy for ${retryAfterMs} ms`, rest);
    if (!isWait(retryAfterMs)) {
      throw new TypeError(`UpstreamBusy: retryAfterMs: expected milliseconds, 0 or more; got ${String(retryAfterMs)}`);
    }
    if (scope !== 'bucket' && scope !== 'type') {
      throw new TypeError(`UpstreamBusy: scope: expected bucket or type; got ${String(scope)}`);
    }
    this.retryAfterMs = retryAfterMs;
    this.scope = scope;
  }
}

/** What an {@link UpstreamBusy} asks for, also where the handler file has its own copy of the class. */
export function busyUpstream(error: unknown): { readonly retryAfterMs: number; readonly scope: BusyScope } | undefined {
  if (!(error instanceof Error) || error.name !== 'UpstreamBusy') return undefined;
  const { retryAfterMs, scope }: Error & { readonly retryAfterMs?: unknown; readonly scope?: unknown } = error;
  return isWait(retryAfterMs) ? { retryAfterMs, scope: scope === 'type' ? 'type' : 'bucket' } : undefined;
}

function isWait(ms: unknown): ms is number {
  return typeof ms === 'number' && ms >= 0;
}
