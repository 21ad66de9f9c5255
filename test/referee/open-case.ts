import { admissionOutcome, readAnswer } from './answer.js';
import type { BucketRecord, CaseFile, Evidence, JobRecord, Run, TypeRecord } from './case-file.js';
import type { Contract, Tolerances } from './contract.js';
import { grouped } from './grouped.js';
import { piecesOf } from './terms.js';
import { timetableOf } from './timetable.js';
import type { AdmissionEvent, StatedTerms, Trace, TraceEvent } from './trace.js';
import { traceRuns } from './trace-runs.js';

/**
 * Sorts a trace by whom it concerns. Throws when the trace speaks of a type or bucket of which the contract says nothing:
 * a misspelt contract must not pass for a generous one.
 */
export function openCase(trace: Trace, contract: Contract, tolerances: Tolerances): CaseFile {
  const registry = new Registry(trace, contract, tolerances.arrivalMs);
  const admissions = trace.filter((event) => event.kind === 'admission').sort((a, b) => a.answeredAt - b.answeredAt);
  const stored = admissions.filter((event) => admissionOutcome(event) === 'admitted');
  const named = grouped(stored, (event) => readAnswer(event.body).id);
  const nameless = named.get(undefined) ?? [];
  named.delete(undefined);

  const costs = new Map([...named].map(([id, events]) => [id, events[0]?.cost]));
  const { runs, surplusEnds } = traceRuns(trace, costs);
  const bucketOf = new Map<Run, BucketRecord>();
  for (const { run, type, tenant } of runs) {
    const bucket = registry.bucket(type, tenant);
    bucket.runs.push(run);
    bucket.type.runs.push(run);
    bucketOf.set(run, bucket);
  }

  const runsOf = grouped(runs, ({ run }) => run.job);
  const sightsOf = grouped(
    trace.filter((event) => event.kind === 'sight'),
    (event) => event.job,
  );
  const cancellationsOf = grouped(
    trace.filter((event) => event.kind === 'cancellation'),
    (event) => event.job,
  );
  const unanswered = grouped(
    admissions.filter((event) => event.key !== undefined && admissionOutcome(event) === 'unknown'),
    keyOf,
  );
  const jobs = new Map<string, JobRecord>();
  for (const [id, events] of named) {
    const admission = events[0];
    if (id === undefined || admission === undefined) continue;
    const bucket = registry.bucket(admission.type, admission.tenant);
    const itsRuns = (runsOf.get(id) ?? []).map(({ run }) => run);
    const job: JobRecord = {
      id,
      bucket,
      admission,
      answer: readAnswer(admission.body),
      ...joinBounds(events, unanswered.get(keyOf(admission)) ?? [], itsRuns[0]),
      runs: itsRuns,
      sights: sightsOf.get(id) ?? [],
      cancellations: cancellationsOf.get(id) ?? [],
    };
    jobs.set(id, job);
    bucket.jobs.push(job);
  }
  for (const event of admissions) {
    const outcome = admissionOutcome(event);
    const bucket = registry.bucket(event.type, event.tenant);
    if (outcome === 'refused') bucket.refusals.push({ event, answer: readAnswer(event.body) });
    if (outcome === 'unknown') bucket.unknowns.push(event);
  }
  const samples = trace
    .filter((event) => event.kind === 'sample')
    .map((event) => ({
      event,
      of: event.tenant === null ? registry.type(event.type) : registry.bucket(event.type, event.tenant),
    }));
  const evidence: Evidence = {
    contract,
    tolerances,
    types: [...registry.types.values()],
    buckets: [...registry.buckets.values()],
    jobs,
    bucketOf,
    nameless,
    surplusEnds,
    samples,
    outages: trace.filter((event) => event.kind === 'outage'),
    endsAt: trace.reduce((last, event) => Math.max(last, lastInstant(event)), -Infinity),
  };
  return { ...evidence, timetables: new Map(evidence.types.map((type) => [type, timetableOf(evidence, type)])) };
}

/** Makes each type's and each bucket's record when it is first spoken of. */
class Registry {
  readonly types = new Map<string, TypeRecord>();
  readonly buckets = new Map<string, BucketRecord>();
  readonly #contract: Contract;
  readonly #listed: ReadonlyMap<string, StatedTerms>;
  readonly #pieces: (name: string, stated: StatedTerms, slackMs: number | undefined) => BucketRecord['pieces'];

  constructor(trace: Trace, contract: Contract, arrivalMs: number) {
    this.#contract = contract;
    this.#listed = new Map(contract.buckets.map((each) => [bucketName(each.type, each.tenant), each]));
    const changes = grouped(
      trace.filter((event) => event.kind === 'change'),
      (event) => (event.tenant === null ? event.type : bucketName(event.type, event.tenant)),
    );
    this.#pieces = (name, stated, slackMs) => piecesOf(stated, slackMs, changes.get(name) ?? [], arrivalMs);
  }

  type(name: string): TypeRecord {
    const known = this.types.get(name);
    if (known !== undefined) return known;
    const contract = this.#contract.types.find((each) => each.type === name);
    if (contract === undefined) throw new Error(`the trace speaks of type ${name}, of which the contract says nothing`);
    const record = {
      name,
      contract,
      pieces: this.#pieces(name, contract.capacity ?? {}, contract.slackMs),
      buckets: [],
      runs: [],
    };
    this.types.set(name, record);
    return record;
  }

  bucket(typeName: string, tenant: string): BucketRecord {
    const name = bucketName(typeName, tenant);
    const known = this.buckets.get(name);
    if (known !== undefined) return known;
    const type = this.type(typeName);
    const stated = this.#listed.get(name) ?? this.#contract.otherwise;
    if (stated === undefined) throw new Error(`the trace speaks of ${name}, of which the contract says nothing`);
    const record = {
      name,
      type,
      pieces: this.#pieces(name, stated, type.contract.slackMs),
      jobs: [],
      refusals: [],
      unknowns: [],
      runs: [],
    };
    type.buckets.push(record);
    this.buckets.set(name, record);
    return record;
  }
}

/** Type names hold no slash, so that no two buckets share a name. */
function bucketName(type: string, tenant: string): string {
  return `${type}/${tenant}`;
}

/** Keys are a bucket's own. */
function keyOf({ type, tenant, key }: AdmissionEvent): string {
  return JSON.stringify([type, tenant, key]);
}

/**
 * When a job can have joined the line: after the first request left that may have brought it, answered or not, before the
 * first answer came and before it started.
 */
function joinBounds(
  admitted: readonly AdmissionEvent[],
  unanswered: readonly AdmissionEvent[],
  first: Run | undefined,
): Pick<JobRecord, 'joinLo' | 'joinHi'> {
  const joinLo = Math.min(...[...admitted, ...unanswered].map((event) => event.sentAt + event.delayMs));
  const answered = Math.min(...admitted.map((event) => event.answeredAt + event.delayMs));
  return { joinLo, joinHi: Math.max(joinLo, Math.min(answered, first?.startAt ?? Infinity)) };
}

function lastInstant(event: TraceEvent): number {
  if ('answeredAt' in event) return event.answeredAt;
  return 'to' in event ? event.to : event.at;
}
