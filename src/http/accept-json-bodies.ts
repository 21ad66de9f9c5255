import type { FastifyInstance } from 'fastify';
import type { Problem } from './problems.js';
import { readJson } from './read-json.js';
import { replyProblem } from './reply-problem.js';

/**
 * A body that was read and could not be understood. It is passed on as a value: an error from a parser would make
 * Fastify close the connection, for which there is no reason once the body is in.
 */
class UnreadableBody {
  readonly problem: Problem;
  constructor(problem: Problem) {
    this.problem = problem;
  }
}

/** Makes `app` take bodies of strict JSON and nothing else. */
export function acceptJsonBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser<Buffer>('application/json', { parseAs: 'buffer' }, (_request, bytes, done) => {
    const body = readJson(bytes);
    done(null, body.ok ? body.value : new UnreadableBody(body.problem));
  });
  app.addHook('preValidation', (request, reply, done) => {
    if (request.body instanceof UnreadableBody) replyProblem(reply, request.body.problem);
    else done();
  });
}
