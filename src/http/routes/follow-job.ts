import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import { Type } from 'typebox';
import type { JobView } from '../../model/verdict.js';
import type { JobFeed } from '../../shaping/job-feed.js';
import { Bell } from '../bell.js';
import { principalOf } from '../first-look.js';
import type { HttpApp, RouteParts } from '../http-app.js';
import { END_ID, jobEvents } from '../job-events.js';
import { isJobId, NO_SUCH_JOB } from '../job-id.js';
import { namedTenant } from '../named-tenant.js';
import { accepted, type Checked, type Problem, refused } from '../problems.js';
import { replyProblem } from '../reply-problem.js';
import { JobParams, PROBLEM_ANSWERS, TenantQuery } from '../request-schemas.js';
import { untilStuck } from '../until-stuck.js';
import { hasEnded } from '../wait-for-end.js';

const EventStream = Type.Unsafe<Readable>({ type: 'string' });
const HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  // Whoever stands between is not to keep, change or gather anything; nginx goes by a header of its own.
  'cache-control': 'no-store, no-transform',
  'x-accel-buffering': 'no',
  connection: 'close',
} as const;

/** `GET /v1/jobs/:id/events`: a stream of all that happens to one job of the tenant's, until it ends. */
export function followJob(app: HttpApp, parts: RouteParts, feed: JobFeed): void {
  app.get(
    '/v1/jobs/:id/events',
    {
      exposeHeadRoute: false,
      schema: {
        produces: ['text/event-stream'],
        params: JobParams,
        querystring: TenantQuery,
        response: { 200: EventStream, 204: Type.Null(), ...PROBLEM_ANSWERS },
      },
    },
    async (request, reply) => {
      const tenant = namedTenant(principalOf(request), request.query.tenant, 'tenant');
      if (!tenant.ok) return replyProblem(reply, tenant.problem);
      const after = readPosition(request.headers['last-event-id']);
      if (!after.ok) return replyProblem(reply, after.problem);
      const { id } = request.params;
      const job = isJobId(id) ? await parts.shaping.job(tenant.value, id) : undefined;
      if (job === undefined) return replyProblem(reply, NO_SUCH_JOB);
      const heardAll = after.value === END_ID && hasEnded(job.state);
      // The one answer after which a browser does not come back.
      if (heardAll) return reply.code(204).send(null);
      const seat = parts.following.streams.take(tenant.value);
      if (!seat.taken) return replyProblem(reply, seat.full === 'tenant' ? TOO_MANY_OWN : tooMany(parts.random));
      const events = follow(parts, feed, reply, seat.leave, { job, after: after.value === END_ID ? '' : after.value });
      return reply.code(200).headers(HEADERS).send(events);
    },
  );
}

function follow(
  { shaping, following }: RouteParts,
  feed: JobFeed,
  { raw }: FastifyReply,
  leave: () => void,
  { job, after }: { readonly job: JobView; readonly after: string },
): Readable {
  const bell = new Bell();
  const unwatch = feed.watch(job.id, async (event) => bell.ring(event));
  const stay = following.closing.onBegin(() => bell.end());
  const over = (): void => {
    unwatch();
    stay();
    leave();
    bell.end();
  };
  raw.once('close', over);
  if (raw.destroyed) over();
  else if (following.closing.begun) bell.end();
  const { heartbeatMs, stuckMs } = following.pace;
  const events = jobEvents({ shaping, job, after, bell, heartbeatMs });
  return Readable.from(
    untilStuck(events, stuckMs, () => raw.destroy()),
    { highWaterMark: 4 },
  );
}

/** The id of a chunk of output, or of the end; '' without one. */
function readPosition(header: string | string[] | undefined): Checked<string> {
  const text = [header ?? ''].flat().join();
  if (text === '' || text === END_ID || /^\d{1,15}-\d{1,15}$/.test(text)) return accepted(text);
  return refused({
    code: 'invalid_field',
    field: 'Last-Event-ID',
    detail: '`Last-Event-ID` must be the id of a message of this stream.',
  });
}

const TOO_MANY_OWN: Problem = {
  code: 'too_many_waiting',
  detail: 'The tenant has as many streams open as it may.',
  retryAfterMs: null,
};

function tooMany(random: () => number): Problem {
  const detail = 'This process has as many streams open as it takes.';
  return { code: 'not_ready', detail, retryAfterMs: 1000 + Math.floor(random() * 4000) };
}
