import { numberField, textField } from '../json-field.js';
import { answered, later, moved, promisingNothing, runOf, seenLater, tampered } from './tampering.js';
import { contractOf, jobs, record, through, uninvited } from './trace-parts.js';

/**
 * Writes the traces of `traces/` anew: lawful ones, and lawful ones in which one thing was changed.
 * `npx jiti test/referee/support/record-traces.ts`, then `npx biome format --write test/referee/traces`.
 */
const steady = contractOf({ acme: { ratePerSecond: 5 } });
const twenty = through(steady, jobs(20, 0));
record(
  'lawful-twenty-at-once',
  null,
  'twenty jobs at once to an idle bucket of 5/s leave 200 ms apart',
  steady,
  twenty,
);

const several = contractOf(
  {
    acme: { ratePerSecond: 10, burst: 3, depth: 6, concurrency: 2 },
    globex: { ratePerSecond: 4, weight: 2 },
    initech: { jobRatePerSecond: 8 },
  },
  { slots: 4, capacity: { ratePerSecond: 40, burst: 10 } },
);
record(
  'lawful-everything',
  null,
  'three tenants with priorities, delays, mixed costs, failures, a cancellation, refusals and a changed rate',
  several,
  through(
    several,
    [
      ...jobs(12, 20, { workMs: 150 }),
      ...jobs(6, 150, { tenant: 'globex', at: 10, cost: 2 }),
      ...jobs(2, 300, { tenant: 'globex', at: 400, priority: 0 }),
      ...jobs(3, 100, { tenant: 'globex', at: 50, delayMs: 600 }),
      ...jobs(8, 60, { tenant: 'initech', at: 100, failures: 1 }),
      ...jobs(1, 0, { tenant: 'initech', at: 700, cancelAfterMs: 15 }),
    ],
    [{ at: 900, tenant: 'globex', terms: { ratePerSecond: 8 } }],
  ),
);
const capped = contractOf({ acme: { concurrency: 1 } });
const three = through(capped, jobs(3, 10, { workMs: 100 }));
record(
  'lawful-crash',
  null,
  'a worker is killed at work: its run is gone, the job runs again later, and lateness meanwhile is excused',
  capped,
  [
    ...tampered(seenLater(three), (event) => {
      if (event.kind === 'end' && event.run === 1) return { kind: 'gone', at: event.at - 50, run: 1 };
      return (event.kind === 'start' || event.kind === 'end') && event.run > 1
        ? { ...event, at: event.at + 600 }
        : event;
    }),
    { kind: 'start', at: 640, run: 9, job: 'job-1', type: 'ocr', tenant: 'acme', cost: 1, attempt: 2 },
    { kind: 'end', at: 690, run: 9, outcome: 'ok' },
    { kind: 'outage', from: 50, to: 700, note: 'kill -9 of the worker' },
  ],
);
record('lawful-answer-lost', null, 'a request without an answer had stored its job, which then runs', steady, [
  ...tampered(twenty, (event) => {
    if (event.kind === 'sight' && event.job === 'job-7') return [];
    if (event.kind !== 'admission' || !JSON.stringify(event.body).includes('"job-7"')) return event;
    const { dateMs: _, ...request } = event;
    return { ...request, status: 0, body: null };
  }),
]);

const bursty = contractOf({ acme: { ratePerSecond: 5, burst: 5 } });
const straddling = promisingNothing(through(bursty, jobs(9, 0, { at: 900 })));
record(
  'g1-one-start-more-across-a-second',
  'G1',
  'every calendar second holds five starts, but the extra one makes seven between 0.9 s and 1.1 s, where a burst of 5 at 5/s allows six',
  bursty,
  [...straddling, ...uninvited('job-extra', 930, 1010)],
);
const brisk = promisingNothing(through(steady, jobs(45, 0)));
record(
  'g1-three-percent-slow',
  'G1',
  'a backlogged bucket with all slots free leaves three percent slower than its rate',
  steady,
  seenLater(tampered(brisk, (event) => ('at' in event ? { ...event, at: event.at * 1.03 } : event))),
);
const capacity = contractOf({ acme: {}, globex: {} }, { capacity: { ratePerSecond: 5, burst: 2 } });
record(
  'g1-capacity-exceeded',
  'G1',
  'two tenants together start one job more than the capacity of their type allows',
  capacity,
  [...through(capacity, [...jobs(6, 10), ...jobs(6, 10, { tenant: 'globex' })]), ...uninvited('job-extra', 700, 850)],
);
const perMinute = contractOf({ acme: { ratePerSecond: 100, jobRatePerSecond: 5 } });
record('g1-job-rate-exceeded', 'G1', 'the units are within the rate, but one job too many starts', perMinute, [
  ...through(perMinute, jobs(8, 0)),
  ...uninvited('job-extra', 300, 500),
]);
record(
  'g1-old-rate-after-a-change',
  'G1',
  'the rate was lowered from 5/s to 1/s, and the jobs that waited leave at the old one',
  steady,
  [
    ...promisingNothing(twenty),
    { kind: 'change', sentAt: 1010, answeredAt: 1014, type: 'ocr', tenant: 'acme', terms: { ratePerSecond: 1 } },
  ],
);

const oneSlot = contractOf({ acme: {} }, { slots: 1 });
const line = through(oneSlot, jobs(10, 10, { workMs: 200 }));
record('g2-two-jobs-swapped', 'G2', 'the fifth and the sixth job of a line change places', oneSlot, [
  ...tampered(line, (event) => {
    if (event.kind !== 'start') return event;
    return { ...event, job: { 'job-5': 'job-6', 'job-6': 'job-5' }[event.job] ?? event.job };
  }),
]);
record(
  'g2-batch-out-of-order',
  'G2',
  'the items of one batch, whose order is certain though they were sent together, start in another',
  oneSlot,
  tampered(through(oneSlot, jobs(6, 0, { workMs: 200 })), (event) => {
    if (event.kind === 'start')
      return { ...event, job: { 'job-2': 'job-3', 'job-3': 'job-2' }[event.job] ?? event.job };
    if (event.kind !== 'admission') return event;
    const id = textField(event.body, 'id') ?? '';
    return { ...event, request: 'batch 1', index: Number(id.slice('job-'.length)) };
  }),
);

const weighted = contractOf({ acme: { weight: 1 }, globex: { weight: 1 } }, { slots: 1 });
const even = through(weighted, [...jobs(24, 1, { workMs: 50 }), ...jobs(24, 1, { tenant: 'globex', workMs: 50 })]);
record(
  'g3-weight-ignored',
  'G3',
  'two tenants of weights 3 and 1 are served in turn',
  contractOf({ acme: { weight: 3 }, globex: { weight: 1 } }, { slots: 1 }),
  even,
);

record('g5-one-job-lost', 'G5', 'the last of twenty jobs never starts and is not found any more', steady, [
  ...tampered(twenty, (event) => {
    const run = runOf(twenty, 'job-20');
    if ((event.kind === 'start' || event.kind === 'end') && event.run === run) return [];
    return event.kind === 'sight' && event.job === 'job-20' ? { ...event, status: 404, state: null } : event;
  }),
]);
record('g5-completed-without-a-run', 'G5', 'a job is called completed and no handler ever saw it', steady, [
  ...tampered(twenty, (event) =>
    (event.kind === 'start' || event.kind === 'end') && event.run === runOf(twenty, 'job-20') ? [] : event,
  ),
]);
record('g5-a-refused-job-runs', 'G5', 'a job runs that was answered 422 and has no id', contractOf({ acme: {} }), [
  ...through(contractOf({ acme: {} }), jobs(3, 10)),
  {
    kind: 'admission',
    type: 'ocr',
    tenant: 'acme',
    priority: 4,
    delayMs: 0,
    cost: 9,
    sentAt: 40,
    answeredAt: 43,
    status: 422,
    body: { code: 'cost_exceeds_max' },
  },
  { kind: 'start', at: 60, run: 50, job: 'job-refused', type: 'ocr', tenant: 'acme', cost: 9, attempt: 1 },
  { kind: 'end', at: 70, run: 50, outcome: 'ok' },
]);

record('g6-double-end', 'G6', 'one run ends twice', steady, [
  ...tampered(twenty, (event) =>
    event.kind === 'end' && event.run === 3 ? [event, { ...event, at: event.at + 90 }] : event,
  ),
]);
record('g6-completed-then-failed', 'G6', 'a job is seen completed and later failed', steady, [
  ...twenty,
  { kind: 'sight', sentAt: 6000, answeredAt: 6002, job: 'job-4', status: 200, state: 'failed' },
]);
record(
  'g6-runs-after-its-end',
  'G6',
  'a cancelled job starts half a second later',
  contractOf({ acme: {} }, { slots: 1 }),
  [
    ...through(contractOf({ acme: {} }, { slots: 1 }), jobs(3, 10, { workMs: 400 })).filter(
      (event) => event.kind !== 'sight' || event.job !== 'job-3',
    ),
    { kind: 'cancellation', sentAt: 60, answeredAt: 63, job: 'job-3', status: 200 },
  ],
);

const pair = contractOf({ acme: { concurrency: 2 } });
const pairs = through(pair, jobs(8, 10, { workMs: 100 }));
record('g7-cap-exceeded-for-5-ms', 'G7', 'a third job starts 5 ms before one of two ends', pair, [
  ...tampered(pairs, (event) => {
    const next = pairs.find((other) => other.kind === 'start' && other.job === 'job-5');
    return event.kind === 'end' && event.run === 3 && next?.kind === 'start' ? { ...event, at: next.at + 5 } : event;
  }),
]);
record('g7-sample-over-the-cap', 'G7', 'Redis is once found to hold three running jobs where two may run', pair, [
  ...pairs,
  { kind: 'sample', sentAt: 150, answeredAt: 151, type: 'ocr', tenant: 'acme', running: 3 },
]);

const deep = (depth: number) => contractOf({ acme: { ratePerSecond: 2, depth } });
const flood = through(deep(4), jobs(10, 30));
record('g8-depth-exceeded-by-one', 'G8', 'four jobs wait where three may', deep(3), flood);
record('g8-refused-with-a-place-free', 'G8', 'a request is refused for a full bucket that has a place', deep(5), flood);

record('g9-release-at-200-ms-off', 'G9', 'one releaseAt lies 200 ms after the instant its own waitMs names', steady, [
  ...answered(twenty, 'job-9', (body) => ({ ...body, releaseAt: later(body.releaseAt, 200) })),
]);
record('g9-promise-200-ms-early', 'G9', 'one 202 promises a start 200 ms before it comes', steady, [
  ...answered(twenty, 'job-9', (body) => ({
    ...body,
    releaseAt: later(body.releaseAt, -200),
    waitMs: body.waitMs - 200,
  })),
]);
const idle = contractOf({ acme: {} });
record('g9-delay-cut-short', 'G9', 'a job with a delay of 1 s starts 40 ms before it is over', idle, [
  ...moved(through(idle, jobs(3, 50, { delayMs: 1000 })), 'job-1', -44),
]);
const refusedBy = (changeMs: number) =>
  tampered(flood, (event) => {
    if (event.kind !== 'admission' || event.status !== 429) return event;
    const retryAfterMs = numberField(event.body, 'retryAfterMs') ?? 0;
    return { ...event, body: { code: 'bucket_full', retryAfterMs: retryAfterMs + changeMs } };
  });
record(
  'g9-retry-after-too-short',
  'G9',
  'a full bucket promises a place 150 ms before there is one',
  deep(4),
  refusedBy(-150),
);
record(
  'g9-retry-after-too-long',
  'G9',
  'a full bucket sends its callers away for 300 ms longer than need be',
  deep(4),
  refusedBy(300),
);
