/** Which processes export a metric. */
export type Exporter = 'api' | 'worker' | 'both';

/** One metric: everything that is said of it anywhere comes from here. */
export interface MetricRow<Label extends string = string> {
  readonly kind: 'counter' | 'gauge' | 'histogram';
  readonly name: string;
  /** What is counted or measured, in one sentence. */
  readonly help: string;
  readonly labels: readonly Label[];
  readonly of: Exporter;
  /** Upper bounds of a histogram's buckets, growing; one without a bound comes behind them. */
  readonly buckets?: readonly number[];
}

type Stated = Pick<MetricRow, 'name' | 'help' | 'of'>;

const counter = <const Label extends string>(stated: Stated, ...labels: Label[]) =>
  ({ kind: 'counter', ...stated, labels }) satisfies MetricRow<Label>;
const gauge = <const Label extends string>(stated: Stated, ...labels: Label[]) =>
  ({ kind: 'gauge', ...stated, labels }) satisfies MetricRow<Label>;
const histogram = <const Label extends string>(
  stated: Stated & { readonly buckets: readonly number[] },
  ...labels: Label[]
) => ({ kind: 'histogram', ...stated, labels }) satisfies MetricRow<Label>;

/** From a start on the spot to the longest waits that a queue is for. They stand once for each tenant: few. */
const WAIT_BUCKETS = [0.01, 0.1, 0.5, 1, 5, 15, 60, 300, 1800, 7200];
/** From a no-op to a long inference. */
const RUN_BUCKETS = [0.005, 0.025, 0.1, 0.5, 1, 5, 15, 60, 300, 1800];
/**
 * Below 0: earlier than promised. Close together around 0, where `rate` is, and far enough out for what an estimate may
 * miss by.
 */
const SLIP_BUCKETS = [
  ...[-300, -60, -10, -1, -0.25, -0.05, -0.01, 0, 0.01, 0.025, 0.05, 0.1, 0.25, 1],
  ...[10, 60, 300],
];
const LAG_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 2.5];
/** A script takes some 50 µs of Redis and a round trip; beyond 2 s nobody waits any more. */
const SCRIPT_BUCKETS = [0.0002, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.05, 0.25, 1, 5];

/** Every metric of Headgate: the registry and docs/metrics.md are made from this table. */
export const METRICS = {
  admitted: counter(
    {
      name: 'headgate_jobs_admitted_total',
      of: 'api',
      help: 'Jobs answered 202, without those that were there already.',
    },
    'type',
    'tenant',
  ),
  rejected: counter(
    {
      name: 'headgate_jobs_rejected_total',
      of: 'api',
      help: 'Sound jobs that were not taken, by the code of their problem.',
    },
    'type',
    'tenant',
    'reason',
  ),
  decisions: counter(
    {
      name: 'headgate_policing_decisions_total',
      of: 'api',
      help: 'Decisions of policies, by what came out and who decided.',
    },
    'policy',
    'outcome',
    'decided_by',
    'allowed',
  ),
  outageDecisions: counter(
    {
      name: 'headgate_policing_outage_decisions_total',
      of: 'api',
      help: 'Those of them that were taken by what stood in for a policer.',
    },
    'policy',
    'decided_by',
  ),
  waiting: gauge(
    { name: 'headgate_jobs_waiting', of: 'api', help: 'Jobs that wait for their turn now.' },
    'type',
    'tenant',
  ),
  delayed: gauge(
    { name: 'headgate_jobs_delayed', of: 'api', help: 'Jobs that wait for an instant: a delay, or the next attempt.' },
    'type',
    'tenant',
  ),
  running: gauge(
    { name: 'headgate_jobs_running', of: 'api', help: 'Jobs whose lock is held now, by whichever worker.' },
    'type',
    'tenant',
  ),
  level: gauge(
    { name: 'headgate_bucket_level_units', of: 'api', help: 'Cost units in the bucket now.' },
    'type',
    'tenant',
  ),
  typeRunning: gauge(
    { name: 'headgate_type_jobs_running', of: 'api', help: 'Jobs of all tenants whose lock is held now.' },
    'type',
  ),
  backlogged: gauge(
    { name: 'headgate_type_buckets_backlogged', of: 'api', help: 'Buckets with something waiting or delayed.' },
    'type',
  ),
  ready: gauge(
    {
      name: 'headgate_type_buckets_ready',
      of: 'api',
      help: 'Buckets that could start a job now, if a slot were free.',
    },
    'type',
  ),
  served: gauge(
    {
      name: 'headgate_type_served_units_per_second',
      of: 'api',
      help: 'Cost units that started, over about the last minute.',
    },
    'type',
  ),
  scarce: gauge(
    {
      name: 'headgate_type_scarce_seconds',
      of: 'api',
      help: 'For how long something has been ready without a pause while nobody had a slot; 0 while workers are enough.',
    },
    'type',
  ),
  unread: gauge(
    {
      name: 'headgate_type_buckets_unread',
      of: 'api',
      help: 'Backlogged buckets that were too many to be looked at: jobs and levels lack them.',
    },
    'type',
  ),
  started: counter(
    {
      name: 'headgate_runs_started_total',
      of: 'both',
      help: 'Runs of jobs that began; a job that is tried again has several.',
    },
    'type',
    'tenant',
  ),
  ended: counter(
    { name: 'headgate_runs_ended_total', of: 'both', help: 'Runs that ended, by what they came to.' },
    'type',
    'tenant',
    'outcome',
  ),
  jobsEnded: counter(
    {
      name: 'headgate_jobs_ended_total',
      of: 'both',
      help: 'Jobs that ended, each once: completed, failed, expired or cancelled.',
    },
    'type',
    'tenant',
    'outcome',
  ),
  wait: histogram(
    {
      name: 'headgate_job_wait_seconds',
      of: 'both',
      help: 'From admission, or from falling due, to the start of each run.',
      buckets: WAIT_BUCKETS,
    },
    'type',
    'tenant',
  ),
  run: histogram(
    {
      name: 'headgate_job_run_seconds',
      of: 'both',
      help: 'How long runs took in the handler.',
      buckets: RUN_BUCKETS,
    },
    'type',
    'tenant',
  ),
  slip: histogram(
    {
      name: 'headgate_start_slip_seconds',
      of: 'both',
      help: 'Real start less promised start of each first run, by what the promise rested on; below 0: earlier.',
      buckets: SLIP_BUCKETS,
    },
    'type',
    'basis',
  ),
  lag: histogram(
    {
      name: 'headgate_dispatch_lag_seconds',
      of: 'worker',
      help: 'From the instant at which a free slot knew that something may start until it had the job.',
      buckets: LAG_BUCKETS,
    },
    'type',
  ),
  lostLocks: counter(
    {
      name: 'headgate_locks_lost_total',
      of: 'both',
      help: 'Runs whose lock was lost: their result did not count, and others may have run the job.',
    },
    'type',
  ),
  recovered: counter(
    { name: 'headgate_jobs_recovered_total', of: 'both', help: 'Jobs taken back from workers that were gone.' },
    'type',
  ),
  slots: gauge({ name: 'headgate_worker_slots', of: 'worker', help: 'Slots of this process.' }, 'type'),
  busy: gauge({ name: 'headgate_worker_slots_busy', of: 'worker', help: 'Those with a job under way.' }, 'type'),
  silent: gauge(
    {
      name: 'headgate_worker_silent_seconds',
      of: 'worker',
      help: 'For how long nothing was heard of jobs though a slot is free; beyond 10 the process is not ready.',
    },
    'type',
  ),
  script: histogram(
    {
      name: 'headgate_script_seconds',
      of: 'both',
      help: 'Calls of scripts on Redis as this process waited for them, answered or not.',
      buckets: SCRIPT_BUCKETS,
    },
    'verb',
  ),
  redisUp: gauge({
    name: 'headgate_redis_up',
    of: 'both',
    help: '1 when Redis answered at this scrape, of a cluster every master, else 0.',
  }),
};
