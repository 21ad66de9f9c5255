import type { DescribedRoute, DescribedRoutes, RouteExample } from './described-route.js';
import { EXAMPLE_JOBS, RUNNING_CLAIM } from './example-world.js';

const RUN = { id: EXAMPLE_JOBS.running, tenant: 'acme', claim: RUNNING_CLAIM };
const LOST: RouteExample = {
  body: { ...RUN, claim: '00000000-0000-4000-8000-000000000000' },
  status: 409,
  answer: {
    type: 'urn:headgate:problem:run_lost',
    title: "The run is no longer this worker's",
    status: 409,
    code: 'run_lost',
    detail: 'The run is over: its lock ran out, its time was up, or it has been ended otherwise.',
  },
};

/** What is said of one run, with what else the body says. */
function report(
  { summary, description, answer }: { summary: string; description: string; answer: string },
  said: Readonly<Record<string, unknown>>,
  state: 'held' | 'settled',
): DescribedRoute {
  return {
    ...{ summary, description, key: 'worker' },
    answers: { 200: answer },
    examples: {
      run: { body: { ...RUN, ...said }, status: 200, answer: { id: RUN.id, state } },
      lost: { ...LOST, body: { ...RUN, ...said, claim: '00000000-0000-4000-8000-000000000000' } },
    },
  };
}

const SETTLED = 'the run has ended so; sent again, it is answered the same';

/** Jobs for workers elsewhere. */
export const WORKER_ROUTES: DescribedRoutes = {
  'POST /v1/workers/claim': {
    summary: 'Claim a job',
    description:
      'Waits for the fairest ready job of a type without a handler and hands it out, under the same rates, caps and weights as any other. ' +
      'A key that is bound to types is answered 403 for any other. Sent again under the same `claim`, it is answered with the same job while that runs. The lock lasts `lockMs`: send heartbeats.',
    key: 'worker',
    answers: { 200: 'a job to run', 204: 'there was none in time' },
    examples: {
      job: {
        body: { type: 'ocr', claim: 'c1f7d3a0-52f4-4a0e-9d1b-2f6f4f0f8a11', waitMs: 20_000 },
        status: 200,
        answer: {
          id: EXAMPLE_JOBS.waiting,
          type: 'ocr',
          tenant: 'acme',
          claim: 'c1f7d3a0-52f4-4a0e-9d1b-2f6f4f0f8a11',
          data: { pages: 2 },
          attempt: 1,
          cost: 2,
          requestId: '5f0b7b0e-8f1e-4f43-9b0e-5f1f0f6b2f7e',
          startedAt: '2026-12-01T00:00:00.000Z',
          lockMs: 30_000,
          timeoutMs: 60_000,
        },
      },
      none: { body: { type: 'chat', waitMs: 0 }, status: 204 },
    },
  },
  'POST /v1/workers/heartbeat': {
    summary: 'Keep runs',
    description: 'Keeps the locks of runs, and tells which of them are to be given up and which are lost.',
    key: 'worker',
    answers: { 200: 'how each of the runs stands' },
    examples: {
      held: {
        body: { runs: [RUN] },
        status: 200,
        answer: { runs: [{ id: RUN.id, claim: RUN.claim, state: 'held' }] },
      },
    },
  },
  'POST /v1/workers/progress': report(
    {
      summary: 'Report progress',
      description: 'Stores how far the job is; readers of the job see the latest.',
      answer: 'it is stored',
    },
    { progress: { page: 2 } },
    'held',
  ),
  'POST /v1/workers/emit': report(
    {
      summary: 'Emit output',
      description:
        'Sends pieces of the output to whoever follows the job. They are numbered: what is sent again is stored once.',
      answer: 'it is stored',
    },
    { first: 1, chunks: ['A low ', 'dam.'] },
    'held',
  ),
  'POST /v1/workers/charge': report(
    {
      summary: 'Charge what the job costs',
      description:
        'Says what the job really costs, once that is known. The last word counts; what waits behind it moves.',
      answer: 'it costs that much',
    },
    { cost: 3.5 },
    'held',
  ),
  'POST /v1/workers/complete': report(
    { summary: 'Complete a job', description: 'Ends the run with a result, and the job with it.', answer: SETTLED },
    { result: { words: 4 } },
    'settled',
  ),
  'POST /v1/workers/fail': report(
    {
      summary: 'Fail a run',
      description:
        'The run came to nothing. Whether there is another attempt, and when, is said by the type and the job. With `retryAfterMs` the ' +
        'upstream is busy: no attempt is used, and nothing starts there meanwhile.',
      answer: SETTLED,
    },
    { error: 'no such page', final: true },
    'settled',
  ),
  'POST /v1/workers/release': report(
    {
      summary: 'Give a job back',
      description:
        'Gives the job back to the front of its bucket, as if the run had not been: for a worker that has to leave. A job that was cancelled ends by it.',
      answer: SETTLED,
    },
    {},
    'settled',
  ),
};
