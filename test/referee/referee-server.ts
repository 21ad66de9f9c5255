import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { monotonicMs } from './clock.js';
import { type EndCall, readEndCall, readStartCall, type StartCall } from './handler-calls.js';
import type { EndEvent, GoneEvent, StartEvent } from './trace.js';

/** What handlers tell the referee. */
export type SeenEvent = StartEvent | EndEvent | GoneEvent;

/** A running referee server. */
export interface RefereeServer {
  /** `http://127.0.0.1:<port>` */
  readonly url: string;
  /** What is known here of what it has seen: all of it, but for what is still on its way from another process. */
  events(): readonly SeenEvent[];
  /** Everything that it has seen so far. */
  allEvents(): Promise<readonly SeenEvent[]>;
  close(): Promise<void>;
}

const MAX_BODY_BYTES = 64 * 1024;
/** A caller's clock that shows an earlier instant than this is another machine's. */
const LONGEST_WAY_MS = 60_000;

/**
 * The upstream that handlers call, on a loopback port of its own.
 *
 * - `POST /start {job, type, tenant, cost, attempt, workMs?, calledAt?}` → 200 `{run}`, after `workMs`. If the caller leaves
 *   before that, the run counts as gone. `calledAt` is when its handler was called, by the clock that all processes of one
 *   machine share; so a busy worker's slow requests blur nothing.
 * - `POST /end {run, outcome?}` → 200 `{}`; outcome `ok` (default), `failed` or `returned`.
 * - `GET /trace` → 200 `{events}`; `GET /now` → 200 `{now}`, its clock.
 *
 * Every other instant is taken when a request's head arrives, before anything is done about it.
 */
export async function startRefereeServer(onEvent: (event: SeenEvent) => void = () => {}): Promise<RefereeServer> {
  const events: SeenEvent[] = [];
  let runs = 0;
  const see = (event: SeenEvent) => {
    events.push(event);
    onEvent(event);
  };

  const start = (arrivedAt: number, { workMs, calledAt, ...call }: StartCall, response: ServerResponse) => {
    runs += 1;
    const run = runs;
    const wayMs = arrivedAt - (calledAt ?? Number.NaN);
    const known = wayMs >= 0 && wayMs < LONGEST_WAY_MS;
    see({ kind: 'start', at: known ? arrivedAt - wayMs : arrivedAt, run, ...call, ...(known ? { wayMs } : {}) });
    const work = setTimeout(() => reply(response, 200, { run }), workMs);
    response.once('close', () => {
      clearTimeout(work);
      if (!response.writableEnded) see({ kind: 'gone', at: monotonicMs(), run });
    });
  };
  const end = (at: number, call: EndCall, response: ServerResponse) => {
    see({ kind: 'end', at, ...call });
    reply(response, 200, {});
  };
  const serve = async (at: number, request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const route = `${request.method} ${request.url}`;
    if (route === 'GET /now') return reply(response, 200, { now: monotonicMs() });
    if (route === 'GET /trace') return reply(response, 200, { events });
    if (route !== 'POST /start' && route !== 'POST /end') return reply(response, 404, { error: `no ${route} here` });
    const body = await bodyOf(request);
    const call = route === 'POST /start' ? readStartCall(body) : readEndCall(body);
    if (typeof call === 'string') return reply(response, 400, { error: call });
    if ('job' in call) start(at, call, response);
    else end(at, call, response);
  };

  const server = createServer((request, response) => {
    const at = monotonicMs();
    serve(at, request, response).catch((error: unknown) => reply(response, 400, { error: String(error) }));
  });
  // A client must never find its idle connection closed at the moment it uses it again.
  server.keepAliveTimeout = 0;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${portOf(server.address())}`,
    events: () => events,
    allEvents: async () => events,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function portOf(address: AddressInfo | string | null): number {
  if (address === null || typeof address === 'string') throw new Error('the referee listens on no port');
  return address.port;
}

function reply(response: ServerResponse, status: number, body: object): void {
  if (response.headersSent || response.destroyed) return;
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

/** The JSON of a request; throws when it is none or too much. */
async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    const part = Buffer.isBuffer(chunk) ? chunk : Buffer.from(String(chunk));
    bytes += part.length;
    if (bytes > MAX_BODY_BYTES) throw new Error('the body is too long');
    chunks.push(part);
  }
  const body: unknown = JSON.parse(Buffer.concat(chunks).toString('utf8'));
  return body;
}
