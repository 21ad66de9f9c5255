import { problemHeaders } from '../http/answer-headers.js';
import { policedProblem } from '../http/policed-answer.js';
import { problemDocument, problemStatus } from '../http/problems.js';
import { PROBLEM_MEDIA_TYPE } from '../http/reply-problem.js';
import type { Decision } from '../policing/policing.js';

/** How a request is answered that a policy does not let pass. */
export interface Refusal {
  /** 429, 422, or 503 when nobody knows and the policy is closed. */
  readonly status: number;
  /** Those beside the headers of the decision, by lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  readonly mediaType: string;
  /** A problem document. */
  readonly body: string;
}

/** The answer to a request that was refused, the same as Headgate's own API gives. */
export function refusalOf(decision: Decision): Refusal {
  const problem = policedProblem(decision);
  return {
    status: problemStatus(problem),
    headers: problemHeaders(problem),
    mediaType: PROBLEM_MEDIA_TYPE,
    body: JSON.stringify(problemDocument(problem)),
  };
}
