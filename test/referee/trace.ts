/**
 * What the referee saw and heard, in its own words: a flat list of plain JSON events.
 *
 * Instants (`At`) are milliseconds of the referee's monotonic clock. What happened elsewhere is known only as an interval,
 * from `sentAt` (the request left) to `answeredAt` (its answer was there). Wall-clock instants stand only inside answers.
 */

/** The bounds, on the referee's clock, between which something happened out of the referee's sight. */
export interface Exchange {
  readonly sentAt: number;
  readonly answeredAt: number;
}

/** One request to enqueue one job, or one item of a batch, and what HTTP answered. */
export interface AdmissionEvent extends Exchange {
  readonly kind: 'admission';
  readonly type: string;
  readonly tenant: string;
  /** 0 starts first, 9 last. */
  readonly priority: number;
  readonly delayMs: number;
  /** Units that the job costs by the type's rule, as the client knows it. */
  readonly cost: number;
  /** HTTP status; for an item of a batch the one it would have had alone; 0 when no answer came. */
  readonly status: number;
  /** The JSON that was answered. */
  readonly body: unknown;
  /** Bytes of the payload. */
  readonly bytes?: number;
  /** The `Date` header of the answer, as milliseconds since 1970. */
  readonly dateMs?: number;
  /** Items of one batch share this name, and `index` counts them in their order. */
  readonly request?: string;
  readonly index?: number;
  /** The idempotency key that it came under: one that had no answer may have been taken, as the next under its key says. */
  readonly key?: string;
}

/** A handler called: the job runs. `run` is the referee's number for it. */
export interface StartEvent {
  readonly kind: 'start';
  readonly at: number;
  readonly run: number;
  readonly job: string;
  readonly type: string;
  readonly tenant: string;
  /** Units, as the handler was told. What the client knows at the door counts for more. */
  readonly cost: number;
  readonly attempt: number;
  /** How long the handler's call was on its way, where the handler's clock can be compared. */
  readonly wayMs?: number;
}

/** How a run came to its end in the handler's eyes: done, to be tried again, or handed back with its cost. */
export type RunOutcome = 'ok' | 'failed' | 'returned';

/** A handler is done with a run and about to say so to Headgate. */
export interface EndEvent {
  readonly kind: 'end';
  readonly at: number;
  readonly run: number;
  readonly outcome: RunOutcome;
}

/** The connection of a run broke while the referee held its answer: its process is gone, or left it. */
export interface GoneEvent {
  readonly kind: 'gone';
  readonly at: number;
  readonly run: number;
}

/** A read of a job (`GET /v1/jobs/:id`, an event stream, a waited answer). */
export interface SightEvent extends Exchange {
  readonly kind: 'sight';
  readonly job: string;
  readonly status: number;
  /** `null` when the answer named none. */
  readonly state: string | null;
  /** The job's result, where the answer had one. */
  readonly result?: unknown;
}

/** `DELETE /v1/jobs/:id` and its status: 200 cancelled, 202 asked to stop, 409 already ended. */
export interface CancellationEvent extends Exchange {
  readonly kind: 'cancellation';
  readonly job: string;
  readonly status: number;
}

/** How many jobs of a bucket, or of a whole type (`tenant: null`), Redis held as running. */
export interface SampleEvent extends Exchange {
  readonly kind: 'sample';
  readonly type: string;
  readonly tenant: string | null;
  readonly running: number;
}

/** A contract was changed: of a bucket, or the capacity of a type (`tenant: null`). `null` in a term: no limit. */
export interface ChangeEvent extends Exchange {
  readonly kind: 'change';
  readonly type: string;
  readonly tenant: string | null;
  readonly terms: StatedTerms;
}

/** Something was broken on purpose in between, recovery included: lateness in it is nobody's fault. */
export interface OutageEvent {
  readonly kind: 'outage';
  readonly from: number;
  readonly to: number;
  readonly note: string;
}

export type TraceEvent =
  | AdmissionEvent
  | StartEvent
  | EndEvent
  | GoneEvent
  | SightEvent
  | CancellationEvent
  | SampleEvent
  | ChangeEvent
  | OutageEvent;

export type Trace = readonly TraceEvent[];

/** Terms as a contract states them. What is absent has its default; `null` means no limit. */
export interface StatedTerms {
  /** Cost units per second; absent: no limit. */
  readonly ratePerSecond?: number | null;
  /** Units back to back; absent: 1. */
  readonly burst?: number;
  /** Jobs per second; absent: no limit. */
  readonly jobRatePerSecond?: number | null;
  readonly depth?: number | null;
  readonly maxBytes?: number | null;
  readonly concurrency?: number | null;
  /** Share of scarce workers; absent: 1. */
  readonly weight?: number;
}
