import type { DescribedRoutes } from './described-route.js';
import { COMPLETED_JOB, COMPLETED_KEY, COMPLETED_OUTPUT, COMPLETED_RESULT, EXAMPLE_JOBS } from './example-world.js';

const PROMISE = {
  position: 1,
  releaseAt: '2026-11-30T12:00:02.000Z',
  waitMs: 2000,
  basis: 'rate',
  releaseBetween: null,
};
const NO_PROMISE = { position: null, releaseAt: null, waitMs: null, basis: null, releaseBetween: null };
const WAITING = { id: EXAMPLE_JOBS.waiting, type: 'ocr', tenant: 'acme', state: 'waiting', ...PROMISE };
const SINCE = {
  priority: 4,
  cost: 1,
  createdAt: '2026-11-30T12:00:00.000Z',
  startedAt: null,
  slipMs: null,
  endedAt: null,
  startBy: null,
  attempts: 0,
  cancelRequested: false,
  progress: 0,
};
const COMPLETED = {
  ...{ id: EXAMPLE_JOBS.completed, type: 'chat', tenant: 'acme', state: 'completed', ...NO_PROMISE, ...SINCE },
  startedAt: '2026-11-30T12:00:00.004Z',
  slipMs: 4,
  endedAt: '2026-11-30T12:00:01.250Z',
  attempts: 1,
  result: COMPLETED_RESULT,
};
const NO_SUCH_JOB = {
  type: 'urn:headgate:problem:job_not_found',
  title: 'The tenant has no such job',
  status: 404,
  code: 'job_not_found',
  detail: 'The tenant has no job of this id.',
};

/** Jobs, one by one and many at once. */
export const JOB_ROUTES: DescribedRoutes = {
  'POST /v1/jobs': {
    summary: 'Post a job',
    description:
      'One job through the whole order at the door. A job that is let in is answered with the instant at which it will start and ' +
      'what that rests on; a refused one costs nothing.',
    headers: ['Idempotency-Key', 'Prefer'],
    answers: {
      200: 'with `Prefer: wait=N`: the job has ended; read its `state`',
      202: 'the job was taken, and will reach exactly one end',
    },
    examples: {
      posted: {
        body: { type: 'ocr', data: { pages: 3 }, priority: 4 },
        status: 202,
        answer: { ...WAITING, position: 2 },
      },
      later: {
        headers: { 'Idempotency-Key': 'invoice-2041' },
        body: { type: 'ocr', data: { pages: 1 }, delayMs: 60_000 },
        status: 202,
        answer: { ...WAITING, state: 'delayed', ...PROMISE, position: null, waitMs: 60_000, basis: 'delay' },
      },
      told: {
        body: {
          type: 'ocr',
          data: { pages: 1 },
          webhook: { url: 'https://hooks.example.com/scans', events: ['completed', 'failed'] },
        },
        status: 202,
        answer: { ...WAITING, position: 2 },
      },
      waitedFor: {
        headers: { 'Idempotency-Key': COMPLETED_KEY, Prefer: 'wait=30' },
        body: COMPLETED_JOB,
        status: 200,
        answer: COMPLETED,
      },
      misspelt: {
        body: { type: 'ocr', data: { pages: 3 }, priorty: 4 },
        status: 400,
        answer: {
          type: 'urn:headgate:problem:unknown_field',
          title: 'A field is not known here',
          status: 400,
          code: 'unknown_field',
          field: 'priorty',
          detail: '`priorty` is not known here. Did you mean `priority`?',
        },
      },
    },
  },
  'POST /v1/jobs/batch': {
    summary: 'Post up to 1,000 jobs',
    description:
      'When any item is refused for a reason that stands in the request itself, that is the answer and none is admitted. Then each ' +
      'bucket takes a prefix of its items, in the given order.',
    answers: { 200: 'one verdict per item, in their order' },
    examples: {
      two: {
        body: {
          jobs: [
            { type: 'ocr', data: { pages: 1 }, idempotencyKey: 'scan-1' },
            { type: 'ocr', data: { pages: 2 }, idempotencyKey: 'scan-2' },
          ],
        },
        status: 200,
        answer: {
          admitted: 2,
          rejected: 0,
          jobs: [
            { verdict: 'admitted', replayed: false, ...WAITING, position: 2 },
            { verdict: 'admitted', replayed: false, ...WAITING, position: 3 },
          ],
        },
      },
    },
  },
  'GET /v1/jobs': {
    summary: 'List jobs',
    description:
      'The tenant’s jobs of one type and state, oldest first, page by page. A page may be empty and still have a cursor.',
    answers: { 200: 'one page of jobs' },
    examples: {
      waiting: {
        query: { type: 'ocr', state: 'waiting', limit: 10 },
        status: 200,
        answer: { jobs: [{ ...WAITING, ...SINCE, cost: 2 }] },
      },
    },
  },
  'GET /v1/jobs/{id}': {
    summary: 'Read a job',
    description: 'One job of the tenant’s. A job of another tenant is answered like one that never was.',
    headers: ['Prefer'],
    answers: { 200: 'the job as it is; with `Prefer: wait=N`, at its end or when the time is up' },
    examples: {
      waiting: { path: { id: EXAMPLE_JOBS.waiting }, status: 200, answer: { ...WAITING, ...SINCE, cost: 2 } },
      completed: {
        path: { id: EXAMPLE_JOBS.completed },
        headers: { Prefer: 'wait=30' },
        status: 200,
        answer: COMPLETED,
      },
      unknown: { path: { id: '01kcb6v0xk3t4m5n6p7q8r9s9t.ocr.0' }, status: 404, answer: NO_SUCH_JOB },
    },
  },
  'DELETE /v1/jobs/{id}': {
    summary: 'Cancel a job',
    description:
      'A job that has not started is cancelled. One that runs is asked to stop, and whoever settles it decides how it ends.',
    answers: { 200: 'it is cancelled', 202: 'it runs, and is asked to stop' },
    examples: {
      waiting: {
        path: { id: EXAMPLE_JOBS.waiting },
        status: 200,
        answer: { id: EXAMPLE_JOBS.waiting, state: 'cancelled' },
      },
      running: {
        path: { id: EXAMPLE_JOBS.running },
        status: 202,
        answer: { id: EXAMPLE_JOBS.running, state: 'active', cancelRequested: true },
      },
    },
  },
  'POST /v1/jobs/{id}/retry': {
    summary: 'Retry a failed job',
    description: 'It waits again, at the back of its priority, with all its attempts, and uses rate like a new one.',
    answers: { 202: 'the job waits again' },
    examples: {
      failed: {
        path: { id: EXAMPLE_JOBS.failed },
        status: 202,
        answer: { ...WAITING, ...SINCE, id: EXAMPLE_JOBS.failed, type: 'chat' },
      },
    },
  },
  'POST /v1/jobs/retry': {
    summary: 'Retry many failed jobs',
    description: 'The tenant’s failed jobs of one type wait again, those that failed first before the others.',
    answers: { 200: 'how many wait again' },
    examples: {
      failed: {
        query: { type: 'chat', state: 'failed', limit: 100 },
        status: 200,
        answer: { retried: 1, full: false },
      },
    },
  },
  'GET /v1/jobs/{id}/events': {
    summary: 'Follow a job',
    description:
      'Server-sent events until the job ends: `state`, `promise` (its promised start has moved), `progress`, `output` (chunks that ' +
      'the handler emitted), `end`.',
    headers: ['Last-Event-ID'],
    answers: { 200: 'the stream', 204: 'nothing more will come: `Last-Event-ID` was that of the end' },
    examples: {
      completed: {
        path: { id: EXAMPLE_JOBS.completed },
        status: 200,
        answer: [
          'retry: 2000',
          `event: output\nid: 1-1\ndata: {"run":1,"chunk":"${COMPLETED_OUTPUT[0]}"}`,
          `event: output\nid: 1-2\ndata: {"run":1,"chunk":"${COMPLETED_OUTPUT[1]}"}`,
          `event: end\nid: end\ndata: ${JSON.stringify(COMPLETED)}\n\n`,
        ].join('\n\n'),
      },
      heardAll: { path: { id: EXAMPLE_JOBS.completed }, headers: { 'Last-Event-ID': 'end' }, status: 204 },
    },
  },
};
