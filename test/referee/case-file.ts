import type { Answer } from './answer.js';
import type { Contract, Tolerances, TypeContract } from './contract.js';
import type { Piece } from './terms.js';
import type { Timetable } from './timetable.js';
import type { AdmissionEvent, CancellationEvent, OutageEvent, RunOutcome, SampleEvent, SightEvent } from './trace.js';

/** One run of a job. */
export interface Run {
  readonly run: number;
  readonly job: string;
  /** As the handler was told: 1 for the first, one more after each failure. A job that is taken back keeps its number. */
  readonly attempt: number;
  readonly startAt: number;
  /** Units: as the client knows it, or as the handler was told where no client does. */
  readonly cost: number;
  /** `null` while nobody said that it ended. */
  readonly endAt: number | null;
  readonly outcome: RunOutcome | 'gone' | null;
}

/** A job that was answered 202. */
export interface JobRecord {
  readonly id: string;
  readonly bucket: BucketRecord;
  /** The request that was answered first, should it have been repeated under one idempotency key. */
  readonly admission: AdmissionEvent;
  readonly answer: Answer;
  /** The earliest instant at which it can have joined the line; for a delayed job, fallen due. */
  readonly joinLo: number;
  /** The latest. */
  readonly joinHi: number;
  /** In the order of their starts. */
  readonly runs: readonly Run[];
  readonly sights: readonly SightEvent[];
  readonly cancellations: readonly CancellationEvent[];
}

/** A request that was surely refused. */
export interface Refusal {
  readonly event: AdmissionEvent;
  readonly answer: Answer;
}

/** One (type, tenant) pair and all that concerns it. */
export interface BucketRecord {
  /** `type/tenant`. */
  readonly name: string;
  readonly type: TypeRecord;
  readonly pieces: readonly Piece[];
  readonly jobs: JobRecord[];
  readonly refusals: Refusal[];
  /** Requests of which nobody knows whether they stored a job. */
  readonly unknowns: AdmissionEvent[];
  /** Every run, in the order of the starts, those of unknown jobs included. */
  readonly runs: Run[];
}

/** One job type as a whole. */
export interface TypeRecord {
  readonly name: string;
  readonly contract: TypeContract;
  readonly pieces: readonly Piece[];
  readonly buckets: BucketRecord[];
  /** Every run, in the order of the starts. */
  readonly runs: Run[];
}

/** An end of a run that never started or had ended already. */
export interface SurplusEnd {
  readonly run: Run | null;
  readonly at: number;
}

/** A trace, sorted by whom it concerns. */
export interface Evidence {
  readonly contract: Contract;
  readonly tolerances: Tolerances;
  readonly types: readonly TypeRecord[];
  readonly buckets: readonly BucketRecord[];
  readonly jobs: ReadonlyMap<string, JobRecord>;
  /** In which bucket each run said it was. */
  readonly bucketOf: ReadonlyMap<Run, BucketRecord>;
  /** 202 answers that name no job. */
  readonly nameless: readonly AdmissionEvent[];
  readonly surplusEnds: readonly SurplusEnd[];
  readonly samples: readonly { readonly event: SampleEvent; readonly of: BucketRecord | TypeRecord }[];
  readonly outages: readonly OutageEvent[];
  /** When the last event was seen. */
  readonly endsAt: number;
}

/** What every judge reads: the evidence, and what the rates alone would have made of it. */
export interface CaseFile extends Evidence {
  readonly timetables: ReadonlyMap<TypeRecord, Timetable>;
}
