import type { FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify';
import { checkKey, checkWorkerKey, type KeyParts, type ShownWorker } from './key-check.js';
import type { Principal } from './keyring.js';
import type { Checked, Problem } from './problems.js';
import { replyProblem } from './reply-problem.js';
import type { RouteMethods } from './route-methods.js';
import type { SessionCheck } from './session-check.js';
import { tokenOf } from './sessions.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by {@link demandKey}; `null` where no key is asked for. */
    principal: Principal | null;
    /** Set by {@link demandWorkerKey}; `null` elsewhere. */
    worker: ShownWorker | null;
  }
}

/**
 * Announced bytes of an unread body that are taken in and thrown away, so that a caller who is still sending reads the
 * answer and not a reset. A longer one, or one without an end in sight, is cut off with the connection.
 */
const SWALLOWED_BYTES = 8 * 1024 * 1024;

/** An `onRequest` hook for every request, before anything of its body was read. */
export function firstLook(methods: RouteMethods, headerCount: number) {
  return (request: FastifyRequest, reply: FastifyReply, done: HookHandlerDoneFunction): void => {
    reply.header('x-request-id', request.id).header('cache-control', 'no-store');
    const problem = framingProblem(request, headerCount) ?? routeProblem(request, methods);
    if (problem === undefined) done();
    else replyUnread(request, reply, problem);
  };
}

/** An `onRequest` hook for what needs a key, or the cookie of a session where there are any. */
export function demandKey(keys: KeyParts, sessions?: SessionCheck) {
  return async (request: FastifyRequest, reply: FastifyReply) => {
    const principal = await principalBy(request, keys, sessions);
    if (!principal.ok) return replyUnread(request, reply, principal.problem);
    request.principal = principal.value;
    const problem = mediaProblem(request);
    if (problem !== undefined) return replyUnread(request, reply, problem);
  };
}

/** On whose behalf a request is made, by its key or cookie. */
export function principalBy(
  request: FastifyRequest,
  keys: KeyParts,
  sessions?: SessionCheck,
): Promise<Checked<Principal>> {
  const token = sessions && tokenOf(request);
  if (sessions !== undefined && token !== undefined) return sessions.principal(request, token);
  return checkKey(keys, request.headers.authorization, request.ip);
}

/** An `onRequest` hook for what only workers may do. */
export function demandWorkerKey(keys: KeyParts) {
  return async (request: FastifyRequest, reply: FastifyReply) => {
    const worker = await checkWorkerKey(keys, request.headers.authorization, request.ip);
    if (!worker.ok) return replyUnread(request, reply, worker.problem);
    request.worker = worker.value;
    const problem = mediaProblem(request);
    if (problem !== undefined) return replyUnread(request, reply, problem);
  };
}

/** The worker who asks, behind {@link demandWorkerKey}. */
export function workerOf(request: FastifyRequest): ShownWorker {
  if (request.worker === null) throw new Error(`${request.routeOptions.url} is reached without a worker's key`);
  return request.worker;
}

/** On whose behalf a request is made, behind {@link demandKey}. */
export function principalOf(request: FastifyRequest): Principal {
  if (request.principal === null) throw new Error(`${request.routeOptions.url} is reached without a key`);
  return request.principal;
}

function framingProblem(request: FastifyRequest, headerCount: number): Problem | undefined {
  const { raw } = request;
  if (raw.rawHeaders.length / 2 > headerCount) {
    return { code: 'headers_too_large', detail: `A request may have at most ${headerCount} headers.` };
  }
  if (raw.httpVersion === '1.1' && raw.headers.host === undefined) {
    return { code: 'malformed_request', field: 'Host', detail: 'HTTP/1.1 requires a `Host` header.' };
  }
  return undefined;
}

function routeProblem(request: FastifyRequest, methods: RouteMethods): Problem | undefined {
  if (!request.is404) return undefined;
  const allow = methods.at(request.url);
  return allow.length === 0
    ? { code: 'route_not_found', detail: 'There is nothing at this address; the routes begin with /v1.' }
    : { code: 'method_not_allowed', detail: `This address answers to ${allow.join(', ')}.`, allow };
}

/** A body that is compressed, or not in UTF-8, is refused by its headers. */
function mediaProblem(request: FastifyRequest): Problem | undefined {
  const encoding = request.headers['content-encoding'];
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    return { code: 'unsupported_media_type', field: 'Content-Encoding', detail: 'Send the body uncompressed.' };
  }
  const charset = /;\s*charset\s*=\s*"?([^";\s]*)/i.exec(request.headers['content-type'] ?? '')?.[1];
  if (charset !== undefined && !/^utf-?8$/i.test(charset)) {
    return { code: 'unsupported_media_type', field: 'Content-Type', detail: 'JSON is sent in UTF-8.' };
  }
  return undefined;
}

function replyUnread(request: FastifyRequest, reply: FastifyReply, problem: Problem): FastifyReply {
  const length = Number(request.headers['content-length'] ?? 0);
  if (request.headers['transfer-encoding'] !== undefined || !(length <= SWALLOWED_BYTES)) {
    reply.header('connection', 'close');
  }
  return replyProblem(reply, problem);
}
