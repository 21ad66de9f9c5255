/** Members of a problem document (RFC 9457) as Headgate answers them; there may be more. */
export interface ProblemDocument {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  /** Stable, for programs: docs/http.md has the table. */
  readonly code: string;
  readonly detail: string;
  readonly field?: string;
  readonly retryAfterMs?: number | null;
  /** The job that the problem is about, or that may have been stored. */
  readonly id?: string;
}

/** What an error is made from. */
export interface ErrorParts {
  readonly code: string;
  readonly status?: number;
  readonly field?: string | undefined;
  readonly retryAfterMs?: number | null | undefined;
  readonly jobId?: string | undefined;
  readonly problem?: ProblemDocument;
  readonly cause?: unknown;
}

/** Refusals that a later repetition of the same request may pass, and trouble of whoever stands between. */
const PASSING: ReadonlySet<number> = new Set([0, 408, 429, 502, 503, 504]);

/** A request that was refused, or that nobody answered. */
export class HeadgateError extends Error {
  override readonly name = 'HeadgateError';
  /**
   * The code of the problem document, or one of the client's own: `network_error` (nobody answered, or the answer broke
   * off), `deadline_exceeded`, `unexpected_answer` (an error that is no problem document: something else stands there).
   */
  readonly code: string;
  /** HTTP status; 0 without an answer. */
  readonly status: number;
  /** The field, parameter or header at fault. */
  readonly field: string | undefined;
  /** Milliseconds after which the same request may pass, never early; `null` when nobody knows. */
  readonly retryAfterMs: number | null;
  /** The job that it is about, where there is one. */
  readonly jobId: string | undefined;
  /** The whole problem document, where there was one. */
  readonly problem: ProblemDocument | undefined;

  constructor(message: string, { code, status = 0, field, retryAfterMs = null, jobId, problem, cause }: ErrorParts) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.status = status;
    this.field = field;
    this.retryAfterMs = retryAfterMs;
    this.jobId = jobId;
    this.problem = problem;
  }

  /** Whether the same request may pass later. */
  get isPassing(): boolean {
    return this.code !== 'deadline_exceeded' && PASSING.has(this.status);
  }
}

/** The error that an answer of 400 and above stands for. */
export function errorOfAnswer({ status, headers }: Response, text: string): HeadgateError {
  const problem = problemIn(text);
  if (problem === undefined) {
    const message = `status ${status} from something that is not Headgate`;
    return new HeadgateError(message, { code: 'unexpected_answer', status, retryAfterMs: retryAfterMs(headers) });
  }
  const { code, detail, field, id } = problem;
  const waitMs = problem.retryAfterMs ?? retryAfterMs(headers);
  return new HeadgateError(detail, { code, status, field, retryAfterMs: waitMs, jobId: id, problem });
}

function problemIn(text: string): ProblemDocument | undefined {
  try {
    const found: ProblemDocument | null = JSON.parse(text);
    return typeof found?.code === 'string' && typeof found.detail === 'string' ? found : undefined;
  } catch {
    return undefined;
  }
}

/** `Retry-After` of a proxy: seconds, or an instant. */
function retryAfterMs(headers: Headers): number | null {
  const text = headers.get('retry-after');
  if (text === null) return null;
  const waitMs = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now();
  return Number.isFinite(waitMs) ? Math.max(0, waitMs) : null;
}
