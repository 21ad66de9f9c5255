import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { ConnectionError } from 'fastify';
import { shortened } from '../config/problem.js';
import { type Problem, problemDocument, problemStatus } from './problems.js';
import { PROBLEM_MEDIA_TYPE } from './reply-problem.js';

/** Answers what never became a whole request, on the bare socket, and closes it. */
export function answerClientError(error: ConnectionError, socket: Socket): void {
  if (error.code !== 'ECONNRESET' && socket.writable) socket.end(rawAnswer(problemOf(error.code)));
  else socket.destroy();
}

/** Answers an `Expect` header that asks for anything but 100-continue, which Node does by itself. */
export function answerExpectation(request: IncomingMessage, response: ServerResponse): void {
  const detail = `\`Expect: ${shortened(request.headers.expect ?? '')}\` is not understood.`;
  const problem: Problem = { code: 'expectation_failed', field: 'Expect', detail };
  const body = JSON.stringify(problemDocument(problem));
  response.writeHead(problemStatus(problem), {
    'content-type': PROBLEM_MEDIA_TYPE,
    'content-length': Buffer.byteLength(body),
    connection: 'close',
  });
  response.end(body);
}

function problemOf(code: string): Problem {
  switch (code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return { code: 'request_timeout', detail: 'Headers and body have to arrive within their time limits.' };
    case 'HPE_HEADER_OVERFLOW':
      return { code: 'headers_too_large', detail: 'The request line and headers are larger than the server takes.' };
    default:
      return { code: 'malformed_request', field: 'request', detail: 'The request is not valid HTTP/1.1.' };
  }
}

function rawAnswer(problem: Problem): string {
  const body = JSON.stringify(problemDocument(problem));
  const status = problemStatus(problem);
  return [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    `Content-Type: ${PROBLEM_MEDIA_TYPE}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
    '',
    body,
  ].join('\r\n');
}
