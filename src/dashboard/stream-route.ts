import type { Readable } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { PageParts } from '../http/browser-page.js';
import { HEARTBEAT } from '../http/event-text.js';
import { principalBy, principalOf } from '../http/first-look.js';
import type { HttpApp } from '../http/http-app.js';
import type { Principal } from '../http/keyring.js';
import { namedTenant } from '../http/named-tenant.js';
import { accepted, type Checked, type Problem } from '../http/problems.js';
import { replyProblem } from '../http/reply-problem.js';
import { Seats } from '../http/seats.js';
import { Outlet } from './outlet.js';
import { PageStream } from './page-stream.js';
import type { Reader } from './reader.js';
import type { View } from './sight.js';
import { SORTS } from './view/window.js';

const MOST_ROWS = 200;
/** Pages that are open at once, of one who is signed in and in all. */
const SEATS = { perTenant: 50, total: 200 };
/** How often it is looked whether who is signed in still is, in milliseconds. */
const CHECK_MS = 5000;

const StreamQuery = Type.Object(
  {
    type: Type.Optional(Type.String({ description: 'the name of a job type; the first unless it is one' })),
    q: Type.Optional(Type.String({ description: 'part of a tenant’s id' })),
    sort: Type.Optional(Type.Unsafe<(typeof SORTS)[number]>({ enum: SORTS, description: SORTS.join(', ') })),
    from: Type.Optional(Type.Integer({ minimum: 0, description: 'a whole number from 0' })),
    count: Type.Optional(
      Type.Integer({ minimum: 1, maximum: MOST_ROWS, description: `a whole number from 1 to ${MOST_ROWS}` }),
    ),
    tenant: Type.Optional(Type.String({ description: 'the id of a tenant to be looked at more closely' })),
  },
  { additionalProperties: false },
);

const HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store, no-transform',
  'x-accel-buffering': 'no',
  connection: 'close',
} as const;

/** `GET /dashboard/stream`: what one page looks at, and whatever changes in it. */
export function streamRoute(app: HttpApp, parts: PageParts, reader: Reader, version: string): void {
  const seats = new Seats(SEATS);
  app.get(
    '/dashboard/stream',
    { exposeHeadRoute: false, schema: { hide: true, querystring: StreamQuery } },
    async (request, reply) => {
      const principal = principalOf(request);
      const view = viewOf(principal, request.query, [...reader.types.keys()]);
      if (!view.ok) return replyProblem(reply, view.problem);
      const seat = seats.take(principal.kind === 'tenant' ? `t${principal.tenant}` : 'admin');
      if (!seat.taken) return replyProblem(reply, TOO_MANY);
      const { stream, end } = open(parts, request, reader, { principal, view: view.value, version });
      reply.raw.once('close', () => {
        end();
        seat.leave();
      });
      return reply.code(200).headers(HEADERS).send(stream);
    },
  );
}

/** Opens the stream of a page; `end` is to be called when it is closed. */
function open(
  parts: PageParts,
  request: FastifyRequest,
  reader: Reader,
  page: { readonly principal: Principal; readonly view: View; readonly version: string },
): { readonly stream: Readable; readonly end: () => void } {
  const outlet = new Outlet(parts.following.pace.heartbeatMs, HEARTBEAT);
  const told = new PageStream({ ...page, reader, send: (text) => outlet.send(text) });
  const endIfSignedOut = async (): Promise<void> => {
    // While Redis is away nobody can be signed out.
    const known = await principalBy(request, parts.keys, parts.sessions).catch(() => undefined);
    if (known?.ok === false) outlet.end();
  };
  const check = setInterval(() => void endIfSignedOut(), CHECK_MS);
  const leave = [reader.watch(told), parts.following.closing.onBegin(() => outlet.end()), () => clearInterval(check)];
  told.begin();
  return { stream: outlet.stream, end: () => leave.splice(0).forEach((each) => void each()) };
}

type Query = Type.Static<typeof StreamQuery>;

function viewOf(principal: Principal, query: Query, types: readonly string[]): Checked<View> {
  const { type: named = '', q = '', sort = 'trouble', from = 0, count = 60, tenant } = query;
  const type = types.includes(named) ? named : types[0];
  const window = { search: q, sort, from, count };
  if (tenant === undefined || tenant === '') return accepted({ type, window, opened: undefined });
  const opened = namedTenant(principal, tenant, 'tenant');
  return opened.ok ? accepted({ type, window, opened: opened.value }) : opened;
}

const TOO_MANY: Problem = {
  code: 'too_many_waiting',
  detail: 'As many pages are open as may be.',
  retryAfterMs: 5000,
};
