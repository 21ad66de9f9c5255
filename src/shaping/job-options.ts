import type { RetryTerms } from '../model/verdict.js';

/** BullMQ's options of a job as its scripts store them: JSON, in the field `opts`. */
export function formatOptions(
  options: RetryTerms & {
    readonly priority: number;
    readonly delayMs: number;
    readonly attempts: number;
  },
): string {
  const { priority, delayMs, attempts, backoff } = options;
  return JSON.stringify({
    priority,
    attempts,
    delay: delayMs > 0 ? delayMs : undefined,
    backoff: backoff && { type: backoff.type, delay: backoff.delayMs },
  });
}

/** What stands in the field `opts`, as far as it is of use here. */
export interface StoredOptions {
  readonly delayMs: number;
  readonly retries: RetryTerms;
}

/** Reads the field `opts`. Whatever is not as {@link formatOptions} wrote it is left out: anybody may have written there. */
export function readOptions(json: string | undefined): StoredOptions {
  const opts = asObject(parsed(json));
  const backoff = asObject(opts.backoff);
  const { type, delay } = backoff;
  return {
    delayMs: isCount(opts.delay) ? opts.delay : 0,
    retries: {
      ...(isCount(opts.attempts) && opts.attempts > 0 && { attempts: opts.attempts }),
      ...((type === 'fixed' || type === 'exponential') && isCount(delay) && { backoff: { type, delayMs: delay } }),
    },
  };
}

function parsed(json: string | undefined): unknown {
  try {
    return JSON.parse(json ?? '{}');
  } catch {
    return {};
  }
}

function asObject(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && value >= 0;
}
