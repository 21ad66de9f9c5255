import { Type } from 'typebox';
import { admitBatch, type Outcome } from '../admit-batch.js';
import { roomHeaders } from '../answer-headers.js';
import { tallied, tallyAdmitted } from '../door-tally.js';
import { principalOf } from '../first-look.js';
import type { HttpApp, RouteParts } from '../http-app.js';
import { AcceptedJob, acceptedJob } from '../job-answer.js';
import { BatchRequest } from '../job-request.js';
import { outageProblem } from '../outage-problem.js';
import { policedJobProblem } from '../police-job.js';
import { type Problem, problemDocument } from '../problems.js';
import { readBatch } from '../read-batch.js';
import type { JobAtDoor } from '../read-job.js';
import { rejectionProblem } from '../rejection-problem.js';
import { replyProblem } from '../reply-problem.js';
import { NoQuery, PROBLEM_ANSWERS, ProblemBody } from '../request-schemas.js';
import { areThere, fullProblem, noRoomProblem } from '../room-in-store.js';

const AdmittedItem = Type.Object({
  verdict: Type.Literal('admitted'),
  replayed: Type.Boolean(),
  ...AcceptedJob.properties,
});
const RejectedItem = Type.Object({ verdict: Type.Literal('rejected'), problem: ProblemBody });

/** The answer to a batch: one verdict per item, in their order. */
export const BatchAnswer = Type.Object({
  admitted: Type.Integer(),
  rejected: Type.Integer(),
  jobs: Type.Array(Type.Union([AdmittedItem, RejectedItem])),
});

/** `POST /v1/jobs/batch`: all items are sound or none is looked at; then a prefix of each bucket's items is admitted. */
export function postBatch(app: HttpApp, parts: RouteParts): void {
  app.post(
    '/v1/jobs/batch',
    {
      bodyLimit: Math.max(parts.batchBytes, parts.jobBytes),
      schema: { body: BatchRequest, querystring: NoQuery, response: { 200: BatchAnswer, ...PROBLEM_ANSWERS } },
    },
    async (request, reply) => {
      if (request.headers['idempotency-key'] !== undefined) return replyProblem(reply, KEY_PER_ITEM);
      const batch = readBatch(parts.keeper, request.body, principalOf(request), request.id);
      if (!batch.ok) return replyProblem(reply, batch.problem);
      const noRoom = noRoomProblem(parts.memory(), parts.random);
      if (noRoom && !(await areThere(parts.shaping, batch.value))) {
        return replyProblem(reply, tallied(parts.tally, batch.value, noRoom));
      }
      const { outcomes, rooms } = await admitBatch(parts, batch.value);
      if (outcomes.every(({ kind }) => kind === 'full')) {
        return replyProblem(reply, tallied(parts.tally, batch.value, fullProblem(parts.random)));
      }
      if (outcomes.every(isOutage)) {
        const away = outageProblem(parts.random, idsInDoubt(outcomes));
        return replyProblem(reply, tallied(parts.tally, batch.value, away));
      }
      const [room, ...others] = rooms;
      if (room !== undefined && others.length === 0) reply.headers(roomHeaders(room.depth, room.freePlaces));
      const jobs = outcomes.map((outcome, index) => itemAnswer(parts, outcome, index));
      const admitted = jobs.filter(({ verdict }) => verdict === 'admitted').length;
      return reply.code(200).send({ admitted, rejected: jobs.length - admitted, jobs });
    },
  );
}

const KEY_PER_ITEM: Problem = {
  code: 'invalid_field',
  field: 'Idempotency-Key',
  detail: 'In a batch every item has an `idempotencyKey` of its own; leave the header out.',
};

/** Redis was away for the bucket, or full, or away for a policy that lets nothing through without it. */
function isOutage(outcome: Outcome): boolean {
  return (
    outcome.kind === 'outage' ||
    outcome.kind === 'full' ||
    (outcome.kind === 'policed' && outcome.decision.outcome === 'unknown')
  );
}

/** Jobs that may or may not have been stored; `undefined` when there are none. */
function idsInDoubt(outcomes: readonly Outcome[]): readonly string[] | undefined {
  const ids = outcomes.flatMap(({ kind, atDoor }) => (kind === 'outage' ? [atDoor.job.id] : []));
  return ids.length === 0 ? undefined : ids;
}

function itemAnswer(parts: RouteParts, outcome: Outcome, index: number) {
  const { atDoor } = outcome;
  if (outcome.kind === 'full') return rejectedItem(parts, atDoor, fullProblem(parts.random));
  if (outcome.kind === 'outage') return rejectedItem(parts, atDoor, outageProblem(parts.random, atDoor.job.id));
  if (outcome.kind === 'policed') {
    return rejectedItem(parts, atDoor, policedJobProblem(parts, atDoor, outcome.decision, ['jobs', index]));
  }
  const { admission } = outcome;
  if (admission.verdict === 'rejected')
    return rejectedItem(parts, atDoor, rejectionProblem(parts, admission, atDoor, ['jobs', index]));
  tallyAdmitted(parts.tally, atDoor, admission);
  return { verdict: 'admitted' as const, replayed: admission.replayed, ...acceptedJob(atDoor, admission) };
}

function rejectedItem({ tally }: RouteParts, atDoor: JobAtDoor, problem: Problem) {
  return { verdict: 'rejected' as const, problem: problemDocument(tallied(tally, [atDoor], problem)) };
}
