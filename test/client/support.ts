import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';

/** A request that reached the server. */
export interface Arrival {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
  readonly atMs: number;
}

/** A server that answers as it is told, one answer after the other; the last one stands for all that follow. */
export interface ScriptedServer {
  readonly url: string;
  readonly arrivals: readonly Arrival[];
  close(): Promise<void>;
}

export type ScriptedAnswer = (response: ServerResponse, arrival: Arrival) => void;

export async function scriptedServer(...answers: readonly ScriptedAnswer[]): Promise<ScriptedServer> {
  const arrivals: Arrival[] = [];
  const server = createServer(async (request, response) => {
    const { method, url, headers } = request;
    const arrival = { method, url, headers, body: await text(request), atMs: performance.now() };
    const answer = answers[Math.min(arrivals.push(arrival), answers.length) - 1];
    answer?.(response, arrival);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server does not listen on a port');
  return {
    url: `http://127.0.0.1:${address.port}`,
    arrivals,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Answers with JSON. */
export function json(status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): ScriptedAnswer {
  return (response) =>
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}

/** Answers with a problem document. */
export function problem(status: number, code: string, more: object = {}): ScriptedAnswer {
  return json(status, {
    type: `urn:headgate:problem:${code}`,
    title: code,
    status,
    code,
    detail: `is ${code}`,
    ...more,
  });
}

/** Closes the connection without an answer. */
export const hangUp: ScriptedAnswer = (response) => response.destroy();

/** Never answers. */
export const silence: ScriptedAnswer = () => undefined;
