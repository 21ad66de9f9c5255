import type { FastifyReply } from 'fastify';
import { problemHeaders } from './answer-headers.js';
import { type Problem, problemDocument, problemStatus } from './problems.js';

export const PROBLEM_MEDIA_TYPE = 'application/problem+json';

/**
 * Answers with a problem document. Return its result from a handler or hook.
 *
 * @param status The problem's own unless the request asks for another one.
 */
export function replyProblem(reply: FastifyReply, problem: Problem, status = problemStatus(problem)): FastifyReply {
  return (
    reply
      .code(status)
      .headers(problemHeaders(problem))
      .type(PROBLEM_MEDIA_TYPE)
      // Bytes, because Fastify would add a charset, which this media type does not have, to a text.
      .send(Buffer.from(JSON.stringify(problemDocument(problem, status))))
  );
}
