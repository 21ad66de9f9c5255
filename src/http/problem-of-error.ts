import { RedisFull, RedisUnavailable } from '../redis/outage.js';
import { outageProblem } from './outage-problem.js';
import { type Problem, ProblemError } from './problems.js';
import { fullProblem } from './room-in-store.js';

/**
 * The problem that answers an error thrown somewhere in a request: our own, an outage, or one of Fastify's.
 * Everything else is a bug, and `internal_error`.
 */
export function problemOfError(error: unknown, random: () => number): Problem {
  if (error instanceof ProblemError) return error.problem;
  if (error instanceof RedisFull) return fullProblem(random);
  if (error instanceof RedisUnavailable) return outageProblem(random);
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  switch (code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return { code: 'body_too_large', field: 'body', detail: 'The body is larger than this address takes.' };
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return {
        code: 'unsupported_media_type',
        field: 'Content-Type',
        detail: 'Send the body with `Content-Type: application/json`.',
      };
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return { code: 'malformed_request', field: 'Content-Length', detail: 'The body is not as long as announced.' };
    case 'FST_ERR_BAD_URL':
      return { code: 'malformed_request', field: 'url', detail: 'The path is not valid percent-encoded UTF-8.' };
    case 'ECONNRESET':
      return { code: 'malformed_request', field: 'body', detail: 'The connection ended before the body did.' };
    default:
      return { code: 'internal_error', detail: 'This is a fault of the service; it has been logged.' };
  }
}
