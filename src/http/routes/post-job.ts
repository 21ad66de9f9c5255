import type { FastifyReply } from 'fastify';
import type { Admitted, Rejection } from '../../model/verdict.js';
import { RedisFull, RedisUnavailable } from '../../redis/outage.js';
import { roomHeaders } from '../answer-headers.js';
import { tallied, tallyAdmitted } from '../door-tally.js';
import { principalOf } from '../first-look.js';
import type { HttpApp, RouteParts } from '../http-app.js';
import { AcceptedJob, acceptedJob, JobResource, jobResource } from '../job-answer.js';
import { JobRequest } from '../job-request.js';
import { outageProblem } from '../outage-problem.js';
import { giveBackUnlessAdded, policedJobProblem, policeJob } from '../police-job.js';
import { policedHeaders } from '../policed-headers.js';
import { type Problem, ProblemError } from '../problems.js';
import { type JobAtDoor, readJob } from '../read-job.js';
import { rejectionProblem } from '../rejection-problem.js';
import { type PolicedJob, replaysAmong } from '../replays-among.js';
import { replyProblem } from '../reply-problem.js';
import { NoQuery, PROBLEM_ANSWERS } from '../request-schemas.js';
import { areThere, fullProblem, noRoomProblem } from '../room-in-store.js';
import { type GrantedWait, grantWait, NO_LONGER_KEPT } from '../wait-grant.js';

/** `POST /v1/jobs`: one job through the whole order at the door, and its end where the caller would rather wait for it. */
export function postJob(app: HttpApp, parts: RouteParts): void {
  app.post(
    '/v1/jobs',
    {
      bodyLimit: parts.jobBytes,
      schema: {
        body: JobRequest,
        querystring: NoQuery,
        response: { 200: JobResource, 202: AcceptedJob, ...PROBLEM_ANSWERS },
      },
    },
    async (request, reply) => {
      const atDoor = readJob(parts.keeper, request.body, {
        principal: principalOf(request),
        idempotencyKey: headerText(request.headers['idempotency-key']),
        requestId: request.id,
        at: [],
      });
      if (!atDoor.ok) return replyProblem(reply, atDoor.problem);
      const noRoom = noRoomProblem(parts.memory(), parts.random);
      if (noRoom && !(await areThere(parts.shaping, [atDoor.value]))) {
        return turnAway(parts, atDoor.value, reply, noRoom);
      }
      const wait = grantWait(parts, request, atDoor.value.tenant);
      if (!wait.ok) return turnAway(parts, atDoor.value, reply, wait.problem);
      try {
        return await throughTheDoor(parts, atDoor.value, reply, wait.value);
      } finally {
        wait.value?.leave();
      }
    },
  );
}

async function throughTheDoor(parts: RouteParts, atDoor: JobAtDoor, reply: FastifyReply, wait: GrantedWait) {
  const decision = await policeJob(parts, atDoor);
  if (decision?.allowed === false && !(await isReplay(parts, { atDoor, decision }))) {
    reply.headers(policedHeaders(decision));
    return turnAway(parts, atDoor, reply, policedJobProblem(parts, atDoor, decision, []));
  }
  const { depth, freePlaces, admission } = await admitOne(parts, atDoor);
  await giveBackUnlessAdded(decision, admission);
  if (admission.verdict === 'rejected') {
    reply.headers(roomHeaders(depth, freePlaces, retryOf(admission)));
    return turnAway(parts, atDoor, reply, rejectionProblem(parts, admission, atDoor, []));
  }
  tallyAdmitted(parts.tally, atDoor, admission);
  reply.headers(roomHeaders(depth, freePlaces));
  if (admission.replayed) reply.header('idempotent-replayed', 'true');
  reply.header('location', `/v1/jobs/${encodeURIComponent(admission.id)}`);
  if (wait === undefined) return reply.code(202).send(acceptedJob(atDoor, admission));
  return answerAtEnd(atDoor, admission, reply, wait);
}

async function answerAtEnd(atDoor: JobAtDoor, admitted: Admitted, reply: FastifyReply, wait: NonNullable<GrantedWait>) {
  const waited = await wait.untilEnd({ tenant: atDoor.tenant, id: admitted.id }, reply);
  if (waited.kind === 'ended') return reply.code(200).send(jobResource(waited.job));
  if (waited.kind === 'gone') return replyProblem(reply, { ...NO_LONGER_KEPT, id: admitted.id });
  const { state, promise } = waited.kind === 'goes on' ? waited.job : admitted;
  return reply.code(202).send(acceptedJob(atDoor, { ...admitted, state, promise }));
}

function turnAway({ tally }: RouteParts, atDoor: JobAtDoor, reply: FastifyReply, problem: Problem) {
  return replyProblem(reply, tallied(tally, [atDoor], problem));
}

async function isReplay({ shaping }: RouteParts, job: PolicedJob): Promise<boolean> {
  return (await replaysAmong(shaping, [job])).has(job);
}

async function admitOne({ shaping, random, tally }: RouteParts, atDoor: JobAtDoor) {
  const { type, tenant, job } = atDoor;
  try {
    const { admissions, depth, freePlaces } = await shaping.admit(type, tenant, [job]);
    const [admission] = admissions;
    if (admission === undefined) throw new Error(`no verdict on job ${job.id}`);
    return { depth, freePlaces, admission };
  } catch (error) {
    if (error instanceof RedisFull) {
      throw new ProblemError(tallied(tally, [atDoor], fullProblem(random)), { cause: error });
    }
    if (error instanceof RedisUnavailable) {
      throw new ProblemError(tallied(tally, [atDoor], outageProblem(random, job.id)), { cause: error });
    }
    throw error;
  }
}

function retryOf(rejection: Rejection): number | null {
  return 'retryAfterMs' in rejection ? rejection.retryAfterMs : null;
}

function headerText(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.join(', ') : value;
}
