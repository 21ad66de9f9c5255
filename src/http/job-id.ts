import type { Problem } from './problems.js';

/** What an id of ours may look like: longer than any, and bounded before it costs memory in Redis. */
const JOB_ID = /^[\x21-\x7e]{1,128}$/;

export function isJobId(text: string): boolean {
  return JOB_ID.test(text);
}

/** The same answer for an id that never was, one whose result expired, and one of another tenant's. */
export const NO_SUCH_JOB: Problem = { code: 'job_not_found', detail: 'The tenant has no job of this id.' };
