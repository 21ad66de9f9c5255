import { type TSchema, Type } from 'typebox';
import { type Check, schemaCheck } from '../body-checks.js';
import type { HttpApp } from '../http-app.js';
import { ENVELOPE_BYTES, RESULT_BYTES } from '../http-limits.js';
import { accepted, type Checked, refused } from '../problems.js';
import { replyProblem } from '../reply-problem.js';
import { NoQuery, PROBLEM_ANSWERS } from '../request-schemas.js';
import {
  ChargeRequest,
  CompleteRequest,
  EmitRequest,
  FailRequest,
  ProgressRequest,
  RunReference,
} from '../worker-requests.js';
import type { WorkerParts } from '../worker-routes.js';
import { type NamedRun, namedRun, RUN_LOST } from '../worker-run.js';

const Held = Type.Object({ id: Type.String(), state: Type.Literal('held') });
const Settled = Type.Object({ id: Type.String(), state: Type.Literal('settled') });

const LARGEST_CHUNK_BYTES = 64 * 1024;

const CHECKS = {
  progress: schemaCheck(ProgressRequest, 'body'),
  emit: schemaCheck(EmitRequest, 'body'),
  charge: schemaCheck(ChargeRequest, 'body'),
  complete: schemaCheck(CompleteRequest, 'body'),
  fail: schemaCheck(FailRequest, 'body'),
  release: schemaCheck(RunReference, 'body'),
};

/** `POST /v1/workers/progress`, `/emit` and `/charge`: what is said of a run while it goes on. */
export function workerReports(app: HttpApp, parts: WorkerParts): void {
  const add = reportAdder(app, parts, Held, 'held');
  add({
    verb: 'progress',
    schema: ProgressRequest,
    check: CHECKS.progress,
    bodyLimit: ENVELOPE_BYTES,
    act: async ({ type, held }, { progress }) => lostUnless(await type.progress(held, JSON.stringify(progress))),
  });
  add({
    verb: 'emit',
    schema: EmitRequest,
    check: CHECKS.emit,
    bodyLimit: RESULT_BYTES + ENVELOPE_BYTES,
    act: async ({ type, held }, { first, chunks }) => {
      const texts = chunks.map((chunk) => JSON.stringify(chunk));
      const large = texts.findIndex((text) => Buffer.byteLength(text) > LARGEST_CHUNK_BYTES);
      if (large >= 0) return tooLarge(`chunks[${large}]`, `A chunk has at most ${LARGEST_CHUNK_BYTES} bytes of JSON.`);
      const emitted = await type.emit(held, first, texts);
      if (emitted === 'full') return tooLarge('chunks', `The output of a run has at most ${RESULT_BYTES} bytes.`);
      return lostUnless(emitted === 'stored');
    },
  });
  add({
    verb: 'charge',
    schema: ChargeRequest,
    check: CHECKS.charge,
    bodyLimit: ENVELOPE_BYTES,
    act: async ({ type, held }, { cost }) => lostUnless(await type.charge(held, cost)),
  });
}

/** `POST /v1/workers/complete`, `/fail` and `/release`: how a run ends. */
export function workerEnds(app: HttpApp, parts: WorkerParts): void {
  const add = reportAdder(app, parts, Settled, 'settled');
  add({
    verb: 'complete',
    schema: CompleteRequest,
    check: CHECKS.complete,
    bodyLimit: RESULT_BYTES + ENVELOPE_BYTES,
    act: async ({ type, held }, { result = null }) => {
      const json = JSON.stringify(result);
      if (Buffer.byteLength(json) <= RESULT_BYTES) return lostUnless(await type.complete(held, json));
      return tooLarge('result', `A result has at most ${RESULT_BYTES} bytes of JSON.`);
    },
  });
  add({
    verb: 'fail',
    schema: FailRequest,
    check: CHECKS.fail,
    bodyLimit: ENVELOPE_BYTES,
    act: async ({ type, held }, { error: message, final = false, retryAfterMs, scope }) => {
      if (scope !== undefined && retryAfterMs === undefined) {
        const detail = '`scope` says what `retryAfterMs` holds up; without that it means nothing.';
        return refused({ code: 'invalid_field', field: 'scope', detail });
      }
      const busy = retryAfterMs === undefined ? undefined : { retryAfterMs, scope: scope ?? ('bucket' as const) };
      return lostUnless(await type.fail(held, { message, final, busy }));
    },
  });
  add({
    verb: 'release',
    schema: RunReference,
    check: CHECKS.release,
    bodyLimit: ENVELOPE_BYTES,
    act: async ({ type, held }) => lostUnless(await type.release(held)),
  });
}

/** One of the routes that say something of one run. */
interface Report<Body extends RunReference> {
  readonly verb: string;
  readonly schema: TSchema;
  readonly check: Check<Body>;
  readonly bodyLimit: number;
  readonly act: (run: NamedRun, body: Body) => Promise<Checked<true>>;
}

/** Adds routes that are all answered alike: once more, they answer the same. */
function reportAdder(app: HttpApp, { remote }: WorkerParts, answer: TSchema, state: 'held' | 'settled') {
  return <Body extends RunReference>({ verb, schema, check, bodyLimit, act }: Report<Body>): void => {
    app.post(
      `/v1/workers/${verb}`,
      { bodyLimit, schema: { body: schema, querystring: NoQuery, response: { 200: answer, ...PROBLEM_ANSWERS } } },
      async (request, reply) => {
        const body = check(request.body, []);
        if (!body.ok) return replyProblem(reply, body.problem);
        const run = namedRun(remote, request, body.value);
        if (!run.ok) return replyProblem(reply, run.problem);
        const done = await act(run.value, body.value);
        if (!done.ok) return replyProblem(reply, done.problem);
        return reply.code(200).send({ id: body.value.id, state });
      },
    );
  };
}

function lostUnless(holds: boolean): Checked<true> {
  return holds ? accepted(true) : refused(RUN_LOST);
}

function tooLarge(field: string, detail: string): Checked<never> {
  return refused({ code: 'output_too_large', field, detail });
}
