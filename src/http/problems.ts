import type { PolicedFields } from './policed-answer.js';

/** How one kind of problem is answered. */
export interface ProblemKind {
  /** HTTP status. */
  readonly status: number;
  /** One sentence, the same for every occurrence. */
  readonly title: string;
  /** Whether the same request, sent again later, may succeed. */
  readonly retryHelps: boolean;
}

/** Every error code of the API: the one table that answers and documentation are made from. */
export const PROBLEMS = {
  malformed_request: { status: 400, title: 'The request is not valid HTTP', retryHelps: false },
  malformed_body: { status: 400, title: 'The body is not acceptable JSON', retryHelps: false },
  missing_field: { status: 400, title: 'A required field is missing', retryHelps: false },
  unknown_field: { status: 400, title: 'A field is not known here', retryHelps: false },
  invalid_field: { status: 400, title: 'A field has a value that is not accepted', retryHelps: false },
  unknown_type: { status: 400, title: 'There is no job type of this name', retryHelps: false },
  deadline_past: { status: 400, title: 'startBy has already passed', retryHelps: false },
  missing_key: { status: 401, title: 'An API key is required', retryHelps: false },
  invalid_key: { status: 401, title: 'The API key is not valid', retryHelps: false },
  session_over: { status: 401, title: 'Nobody is signed in', retryHelps: false },
  tenant_forbidden: { status: 403, title: 'This key speaks for another tenant', retryHelps: false },
  cross_site: { status: 403, title: 'The request was not sent by a page of this site', retryHelps: false },
  admin_only: { status: 403, title: 'Only an admin key may do this', retryHelps: false },
  worker_only: { status: 403, title: 'Only a worker key may do this', retryHelps: false },
  type_forbidden: { status: 403, title: 'This key may not be used for this job type', retryHelps: false },
  route_not_found: { status: 404, title: 'There is nothing at this address', retryHelps: false },
  key_not_found: { status: 404, title: 'The tenant has no such key', retryHelps: false },
  job_not_found: { status: 404, title: 'The tenant has no such job', retryHelps: false },
  tier_not_found: { status: 404, title: 'There is no tier of this name', retryHelps: false },
  type_not_found: { status: 404, title: 'There is no job type of this name here', retryHelps: false },
  unknown_policy: { status: 404, title: 'There is no policy of this name', retryHelps: false },
  method_not_allowed: { status: 405, title: 'This address does not answer to this method', retryHelps: false },
  request_timeout: { status: 408, title: 'The request did not arrive in time', retryHelps: true },
  already_ended: { status: 409, title: 'The job has already ended', retryHelps: false },
  not_failed: { status: 409, title: 'The job has not failed', retryHelps: false },
  run_lost: { status: 409, title: "The run is no longer this worker's", retryHelps: false },
  too_many_keys: { status: 409, title: 'The tenant has as many keys as it may', retryHelps: false },
  deadline_unreachable: { status: 409, title: 'The job cannot start by startBy', retryHelps: false },
  body_too_large: { status: 413, title: 'The body is too large', retryHelps: false },
  payload_too_large: { status: 413, title: 'The payload of the job is too large', retryHelps: false },
  output_too_large: { status: 413, title: 'What the run has produced is too large', retryHelps: false },
  unsupported_media_type: { status: 415, title: 'The body must be application/json in UTF-8', retryHelps: false },
  expectation_failed: { status: 417, title: 'The expectation cannot be met', retryHelps: false },
  cost_exceeds_max: { status: 422, title: 'The cost is more than can ever pass', retryHelps: false },
  idempotency_mismatch: { status: 422, title: 'The idempotency key belongs to another request', retryHelps: false },
  bucket_full: { status: 429, title: "The tenant's queue is full", retryHelps: true },
  wait_too_long: { status: 429, title: 'The job would wait longer than allowed', retryHelps: true },
  rate_limited: { status: 429, title: 'A rate limit is reached', retryHelps: true },
  too_many_wrong_keys: { status: 429, title: 'Too many wrong keys came from this address', retryHelps: true },
  too_many_waiting: { status: 429, title: 'The tenant keeps too many connections waiting', retryHelps: true },
  headers_too_large: { status: 431, title: 'The request headers are too many or too large', retryHelps: false },
  internal_error: { status: 500, title: 'Something unforeseen went wrong', retryHelps: true },
  redis_unavailable: { status: 503, title: 'The store does not answer', retryHelps: true },
  memory_full: { status: 503, title: 'The store has no room for more jobs', retryHelps: true },
  store_evicts: { status: 503, title: 'The store may throw away jobs', retryHelps: true },
  not_ready: { status: 503, title: 'Not ready to serve', retryHelps: true },
} as const satisfies Record<string, ProblemKind>;

/** A stable name of a problem, for programs. */
export type ProblemCode = keyof typeof PROBLEMS;

/** One occurrence of a problem. */
export interface Problem extends Partial<PolicedFields> {
  readonly code: ProblemCode;
  /** What is wrong this time, for people. */
  readonly detail: string;
  /** The field, parameter or header at fault, as `jobs[3].data.pages`, `limit` or `Idempotency-Key`. */
  readonly field?: string;
  /** Milliseconds after which the same request may pass, never early; `null` when nobody knows. */
  readonly retryAfterMs?: number | null;
  /** RFC 3339: the earliest start that the bucket's rate allows. */
  readonly earliestStartAt?: string;
  /** The job that may or may not have been stored when the answer was lost. */
  readonly id?: string;
  /** The same, for a batch. */
  readonly ids?: readonly string[];
  /** Methods that the address does answer to. */
  readonly allow?: readonly string[];
  /** What a readiness probe found. */
  readonly checks?: Readonly<Record<string, unknown>>;
}

/** A problem document as RFC 9457 has it, with Headgate's own members. */
export type ProblemDocument = { type: string; title: string; status: number } & Problem;

/** The body that answers `problem`; `status` is its own where the request asks for another one. */
export function problemDocument(problem: Problem, status = problemStatus(problem)): ProblemDocument {
  const { title } = PROBLEMS[problem.code];
  return { type: `urn:headgate:problem:${problem.code}`, title, status, ...problem };
}

/** The status that answers `problem`. */
export function problemStatus(problem: Problem): number {
  return PROBLEMS[problem.code].status;
}

/** A value, or the first problem that was found on the way to it. */
export type Checked<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly problem: Problem };

export function accepted<T>(value: T): Checked<T> {
  return { ok: true, value };
}

export function refused(problem: Problem): { readonly ok: false; readonly problem: Problem } {
  return { ok: false, problem };
}

/** Carries a problem through the parts of Fastify that know only errors (body parsers, hooks). */
export class ProblemError extends Error {
  override readonly name = 'ProblemError';
  readonly problem: Problem;

  constructor(problem: Problem, options?: ErrorOptions) {
    super(problem.detail, options);
    this.problem = problem;
  }
}
