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
  /** Units that the job took from its bucket. */
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
  readonly log: HandlerLog;
  readonly running: RunningInfo;
}

/** The code behind a type. */
export interface Handler {
  /** Milliseconds after which `signal` aborts and the attempt fails; the type's configured timeout when absent. */
  readonly timeoutMs?: number;
  /**
   * Does one job and returns its result, any JSON value. A rejection fails the attempt, and the type's `attempts` says
   * whether there is another; {@link Unrecoverable} allows no other. It may run again after a crash: make it repeatable.
   */
  readonly run: (job: HandlerJob, ctx: HandlerContext) => unknown;
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
