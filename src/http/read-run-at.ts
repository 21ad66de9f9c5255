import { formatPath, type Path } from '../config/problem.js';
import { readInstant } from './instant.js';
import { type BatchItem, LONGEST_DELAY_MS } from './job-request.js';
import { accepted, type Checked, refused } from './problems.js';

/**
 * The instant, milliseconds since 1970, at which a job joins its queue; `undefined` where none was named. One that has passed
 * is no fault: the job joins at once. Redis' clock counts, so all that is checked here is that it lies within reach.
 */
export function readRunAt({ runAt, delayMs }: BatchItem, at: Path): Checked<number | undefined> {
  if (runAt === undefined) return accepted(undefined);
  const field = formatPath([...at, 'runAt']);
  if (delayMs !== undefined) {
    const detail = `\`${field}\` and \`delayMs\` say the same in two ways: give one of them.`;
    return refused({ code: 'invalid_field', field, detail });
  }
  const instant = readInstant(runAt, field);
  if (!instant.ok || instant.value - Date.now() <= LONGEST_DELAY_MS) return instant;
  return refused({ code: 'invalid_field', field, detail: `\`${field}\` must lie within the next ten years.` });
}
