import { numberField, textField } from '../json-field.js';
import type { AdmissionEvent, StartEvent, Trace, TraceEvent } from '../trace.js';

/** One event changed for another, or for several, or for none. */
export type Change = (event: TraceEvent) => TraceEvent | readonly TraceEvent[];

/** The trace with every event passed through `change`. */
export function tampered(trace: Trace, change: Change): Trace {
  return trace.flatMap((event) => change(event));
}

/** Moves the run of one job, start and end, by so many milliseconds. */
export function moved(trace: Trace, job: string, byMs: number): Trace {
  const run = runOf(trace, job);
  return tampered(trace, (event) =>
    (event.kind === 'start' || event.kind === 'end') && event.run === run ? { ...event, at: event.at + byMs } : event,
  );
}

/** Changes the JSON that one job's request was answered with. */
export function answered(trace: Trace, job: string, change: (body: Body) => object): Trace {
  return tampered(trace, (event) =>
    event.kind === 'admission' && isOf(event, job) ? { ...event, body: change(bodyOf(event)) } : event,
  );
}

/** Every answer says basis `capacity`: an estimate that promises nothing. */
export function promisingNothing(trace: Trace): Trace {
  return tampered(trace, (event) =>
    event.kind === 'admission' && event.status === 202
      ? { ...event, body: { ...bodyOf(event), basis: 'capacity' } }
      : event,
  );
}

/** The answer of an ideal gate to an admitted job. */
export interface Body {
  readonly id: string;
  readonly state: string;
  readonly releaseAt: string;
  readonly waitMs: number;
  readonly basis: string;
}

/** Every look at a job comes ten seconds later. */
export function seenLater(trace: Trace): Trace {
  return tampered(trace, (event) =>
    event.kind === 'sight' ? { ...event, sentAt: event.sentAt + 10_000, answeredAt: event.answeredAt + 10_000 } : event,
  );
}

/** An instant in an answer, moved. */
export function later(releaseAt: string, byMs: number): string {
  return new Date(Date.parse(releaseAt) + byMs).toISOString();
}

/** The number of a job's first run. */
export function runOf(trace: Trace, job: string): number | undefined {
  return trace.find((event): event is StartEvent => event.kind === 'start' && event.job === job)?.run;
}

function isOf(event: AdmissionEvent, job: string): boolean {
  return textField(event.body, 'id') === job;
}

function bodyOf({ body }: AdmissionEvent): Body {
  return {
    id: textField(body, 'id') ?? '',
    state: textField(body, 'state') ?? '',
    releaseAt: textField(body, 'releaseAt') ?? '',
    waitMs: numberField(body, 'waitMs') ?? 0,
    basis: textField(body, 'basis') ?? '',
  };
}
