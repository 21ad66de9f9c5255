import { METHODS } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { ForwardAuthQuery, forwardedCall } from '../forwarded-call.js';
import type { HttpApp, RouteParts } from '../http-app.js';
import { checkGatewayKey } from '../key-check.js';
import { policedProblem } from '../policed-answer.js';
import { policedHeaders } from '../policed-headers.js';
import type { Problem } from '../problems.js';
import { replyProblem } from '../reply-problem.js';
import { PROBLEM_ANSWERS } from '../request-schemas.js';
import { queryReader } from '../strict-query.js';

const PATH = '/v1/forward-auth';
/** What Node hands to a request listener: CONNECT is none. */
const ANY_METHOD = METHODS.filter((method) => method !== 'CONNECT');

const readQuery = queryReader(ForwardAuthQuery);

/**
 * `/v1/forward-auth`, by any method: whether a gateway should let a request of its client through.
 *
 * Answered before the body, of which gateways send the headers and not the bytes, and whatever else the client said:
 * its headers come with the gateway's, and none of them is Headgate's but those documented.
 */
export function forwardAuth(app: HttpApp, parts: RouteParts): void {
  for (const method of ANY_METHOD) if (!app.supportedMethods.includes(method)) app.addHttpMethod(method);
  app.route({
    method: ANY_METHOD,
    url: PATH,
    schema: { querystring: ForwardAuthQuery, response: { 200: Type.Null(), ...PROBLEM_ANSWERS } },
    onRequest: async (request, reply) => {
      if (announcesBody(request)) reply.header('connection', 'close');
      return answer(parts, request, reply);
    },
    handler: async () => {
      throw new Error(`${PATH} is answered before its body`);
    },
  });
}

async function answer(
  { policed, keyring, failures }: RouteParts,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const key = checkGatewayKey({ keyring, failures }, request.headers, request.ip);
  if (!key.ok) return replyProblem(reply, key.problem);
  const query = readQuery(request.url.split('?').slice(1).join('?'));
  if (!query.ok) return replyProblem(reply, query.problem);
  const call = forwardedCall(policed, request, query.value);
  if (!call.ok) return replyProblem(reply, call.problem);
  if (call.value === undefined) return reply.code(200).send();
  const decision = await policed.policing.decide(call.value);
  reply.headers(policedHeaders(decision));
  if (decision.allowed) return reply.code(200).send();
  return replyDenied(reply, policedProblem(decision, costField(query.value)), query.value.deny);
}

/** With `deny=403` everything that the policy refuses is 403: a gateway that asks for it makes errors of the rest. */
function replyDenied(reply: FastifyReply, problem: Problem, deny: ForwardAuthQuery['deny']): FastifyReply {
  return deny === '403' ? replyProblem(reply, problem, 403) : replyProblem(reply, problem);
}

/** Where the cost stands: in the query, or in the table of routes for the original request. */
function costField({ policy }: ForwardAuthQuery): string {
  return policy === undefined ? 'routes' : 'cost';
}

/** Bytes may follow or not: whoever reuses the connection could not tell. */
function announcesBody({ headers }: FastifyRequest): boolean {
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';
}
