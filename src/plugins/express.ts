import type { IncomingMessage, ServerResponse } from 'node:http';
import { policedHeaders } from '../http/policed-headers.js';
import type { Decision } from '../policing/policing.js';
import { openGuard } from './open-guard.js';
import type { HeadgateOptions } from './plugin-options.js';
import { refusalOf } from './refusal.js';

/** What is used of a request of express; one of node's own does as well. */
export interface MiddlewareRequest extends IncomingMessage {
  /** The client's address as express knows it, by its `trust proxy`. */
  readonly ip?: string | undefined;
  /** The request's target before routers have cut it. */
  readonly originalUrl?: string;
  /** What the policy said; absent when the request is held to none. */
  headgate?: Decision;
}

/** The middleware, and how to close what it opened. */
export interface Middleware<Request extends MiddlewareRequest> {
  (request: Request, response: ServerResponse, next: (error?: unknown) => void): void;
  /** Closes what was opened for it. Requests that still come are decided as if Redis were away. */
  close(): Promise<void>;
}

declare global {
  namespace Express {
    interface Request {
      /** What the policy said; absent when the request is held to none. */
      headgate?: Decision;
    }
  }
}

/**
 * Express-style middleware, for any server that calls `(request, response, next)`. It holds requests to policies: one
 * that conforms goes on with `RateLimit` headers, one that does not is answered 429 with `Retry-After`.
 * `request.headgate` is the decision.
 *
 * @throws ConfigError when the options cannot be used.
 */
export function headgate<Request extends MiddlewareRequest = MiddlewareRequest>(
  options: HeadgateOptions<Request, ServerResponse>,
): Middleware<Request> {
  const { guard, tried, close } = openGuard(options, addressOf, true);
  const { onRefused } = options;
  const mayGoOn = async (request: Request, response: ServerResponse): Promise<boolean> => {
    await tried;
    const { method = 'GET', originalUrl, url = '/' } = request;
    const decision = await guard.decide(request, { method, url: originalUrl ?? url });
    if (decision === undefined) return true;
    request.headgate = decision;
    setHeaders(response, policedHeaders(decision));
    if (decision.allowed) return true;

    const { status, headers, mediaType, body } = refusalOf(decision);
    response.statusCode = status;
    setHeaders(response, headers);
    if (onRefused !== undefined) {
      await onRefused(request, response, decision);
    } else {
      response.setHeader('content-type', mediaType);
      response.end(body);
    }
    return false;
  };
  const middleware = (request: Request, response: ServerResponse, next: (error?: unknown) => void): void => {
    mayGoOn(request, response).then(
      (goesOn) => {
        if (goesOn) next();
      },
      (error) => {
        // Not that of a refusal: the program has failed.
        response.statusCode = 500;
        next(error);
      },
    );
  };
  return Object.assign(middleware, { close });
}

function addressOf(request: MiddlewareRequest): string | undefined {
  return request.ip ?? request.socket.remoteAddress;
}

function setHeaders(response: ServerResponse, headers: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
}

export default headgate;
