import type { FastifyInstance, FastifyReply } from 'fastify';
import { problemOfError } from './problem-of-error.js';
import { problemStatus } from './problems.js';
import { replyProblem } from './reply-problem.js';

/** Makes every error that reaches Fastify a problem document. */
export function answerErrors(app: FastifyInstance, random: () => number): void {
  app.setErrorHandler((error, _request, reply) => replyError(reply, error, random));
}

/** Answers with the problem that `error` is, and logs it when it is ours. */
export function replyError(reply: FastifyReply, error: unknown, random: () => number): FastifyReply {
  const problem = problemOfError(error, random);
  if (problem.code === 'internal_error') reply.log.error({ err: error }, 'a request failed for no foreseen reason');
  else if (problemStatus(problem) >= 500) reply.log.warn({ err: error }, 'a request failed');
  return replyProblem(reply, problem);
}
