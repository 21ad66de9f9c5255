import { formatPath, type Path } from '../config/problem.js';
import type { RetryTerms } from '../model/verdict.js';
import type { DoorType } from './door.js';
import type { BatchItem } from './job-request.js';
import { accepted, type Checked, refused } from './problems.js';

/** The terms of retrying that a job states itself, within those of its type; `undefined` when it states none. */
export function readRetryTerms(
  rules: DoorType,
  { attempts, backoff }: Pick<BatchItem, 'attempts' | 'backoff'>,
  at: Path,
): Checked<RetryTerms | undefined> {
  if (attempts !== undefined && attempts > rules.attempts) {
    return beyond([...at, 'attempts'], `${rules.attempts}`, attempts);
  }
  if (backoff !== undefined && backoff.delayMs > rules.backoff.maxMs) {
    return beyond([...at, 'backoff', 'delayMs'], `${rules.backoff.maxMs} ms`, backoff.delayMs);
  }
  if (attempts === undefined && backoff === undefined) return accepted(undefined);
  return accepted({ ...(attempts !== undefined && { attempts }), ...(backoff !== undefined && { backoff }) });
}

function beyond(path: Path, most: string, got: number) {
  const field = formatPath(path);
  return refused({
    code: 'invalid_field',
    field,
    detail: `\`${field}\` is at most ${most} for this type; got ${got}.`,
  });
}
