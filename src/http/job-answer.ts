import { type Static, Type } from 'typebox';
import type { Admitted, JobView, StartPromise } from '../model/verdict.js';
import { rfc3339 } from './instant.js';
import { State } from './job-state.js';
import type { JobAtDoor } from './read-job.js';

const Nullable = <T extends Type.TSchema>(schema: T) => Type.Union([schema, Type.Null()]);
const Instant = Type.String({ format: 'date-time', description: 'RFC 3339, UTC, milliseconds' });
const BasisName = Type.Union([Type.Literal('rate'), Type.Literal('capacity'), Type.Literal('delay')]);

/** Where a start is estimated: the instants between which nine of ten such jobs start. */
export const ReleaseBetween = Nullable(Type.Tuple([Instant, Instant]));

/** When a job is expected to start; every field is `null` once it has started, or when nobody can say. */
const PROMISE_FIELDS = {
  position: Nullable(Type.Integer({ description: '1 is the next to start in its bucket; null while delayed' })),
  releaseAt: Nullable(Instant),
  waitMs: Nullable(Type.Integer()),
  basis: Nullable(BasisName),
  releaseBetween: ReleaseBetween,
  approximate: Type.Optional(Type.Literal(true)),
};

/** What a job that was let in is answered with. */
export const AcceptedJob = Type.Object({
  id: Type.String(),
  type: Type.String(),
  tenant: Type.String(),
  state: State,
  ...PROMISE_FIELDS,
});
export type AcceptedJob = Static<typeof AcceptedJob>;

/** A job as a reader sees it. */
export const JobResource = Type.Object({
  ...AcceptedJob.properties,
  priority: Type.Integer(),
  cost: Type.Number(),
  createdAt: Nullable(Instant),
  startedAt: Nullable(Instant),
  slipMs: Nullable(Type.Integer({ description: 'how much later than promised it started; null until then' })),
  endedAt: Nullable(Instant),
  startBy: Nullable(Instant),
  attempts: Type.Integer({ description: 'how often it was started' }),
  cancelRequested: Type.Boolean(),
  progress: Type.Unknown(),
  result: Type.Optional(Type.Unknown({ description: 'what the handler returned; when completed, not in lists' })),
  error: Type.Optional(Type.String({ description: 'why it failed, expired or was cancelled' })),
});
export type JobResource = Static<typeof JobResource>;

/** The answer to a job that was let in. */
export function acceptedJob({ type, tenant }: JobAtDoor, admitted: Admitted): AcceptedJob {
  const { id, state, promise } = admitted;
  return { id, type, tenant, state, ...promiseFields(promise) };
}

/** The answer to a reader. */
export function jobResource(view: JobView): JobResource {
  return {
    id: view.id,
    type: view.type,
    tenant: view.tenant,
    state: view.state,
    ...promiseFields(view.promise),
    priority: view.priority,
    cost: view.cost,
    createdAt: rfc3339(view.createdAtMs),
    startedAt: instantOrNull(view.startedAtMs),
    slipMs: view.slipMs,
    endedAt: instantOrNull(view.endedAtMs),
    startBy: instantOrNull(view.startByMs),
    attempts: view.attemptsMade,
    cancelRequested: view.cancelRequested,
    progress: view.progress,
    ...('result' in view ? { result: view.result } : {}),
    ...(view.error === undefined ? {} : { error: view.error }),
  };
}

/** When a job is expected to start, as every answer says it. */
export function promiseFields(promise: StartPromise | null) {
  if (promise === null) return { position: null, releaseAt: null, waitMs: null, basis: null, releaseBetween: null };
  const { position, releaseAtMs, waitMs, basis, releaseBetweenMs, approximate } = promise;
  return {
    position,
    releaseAt: rfc3339(releaseAtMs),
    waitMs: Number.isFinite(waitMs) ? Math.ceil(waitMs) : null,
    basis,
    releaseBetween: betweenOrNull(releaseBetweenMs),
    ...(approximate === undefined ? {} : { approximate }),
  };
}

/** The two instants in RFC 3339. */
export function betweenOrNull(between: StartPromise['releaseBetweenMs']): [string, string] | null {
  if (between === null) return null;
  const [earliest, latest] = between.map(rfc3339);
  return earliest && latest ? [earliest, latest] : null;
}

function instantOrNull(atMs: number | null): string | null {
  return atMs === null ? null : rfc3339(atMs);
}
