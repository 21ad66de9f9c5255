import { field, numberField, textField } from './json-field.js';
import type { AdmissionEvent } from './trace.js';

/** What an admission's answer says, read from its JSON without trusting its shape: what is absent or malformed is `undefined`. */
export interface Answer {
  readonly id: string | undefined;
  readonly state: string | undefined;
  /** Wall-clock milliseconds since 1970, by the clock of Redis. */
  readonly releaseAtMs: number | undefined;
  readonly waitMs: number | undefined;
  readonly basis: string | undefined;
  /** Of an estimate: wall-clock milliseconds between which it starts nine times out of ten. */
  readonly between: readonly [earliest: number, latest: number] | undefined;
  /** The code of a problem document. */
  readonly code: string | undefined;
  /** Milliseconds until the next place is free; `null` when none is going to be. */
  readonly retryAfterMs: number | null | undefined;
  /** The limit that a full bucket had reached. */
  readonly limit: string | undefined;
}

/** Reads the JSON that was answered. */
export function readAnswer(body: unknown): Answer {
  const releaseAt = Date.parse(textField(body, 'releaseAt') ?? '');
  return {
    id: textField(body, 'id'),
    state: textField(body, 'state'),
    releaseAtMs: Number.isNaN(releaseAt) ? undefined : releaseAt,
    waitMs: numberField(body, 'waitMs'),
    basis: textField(body, 'basis'),
    between: rangeIn(field(body, 'releaseBetween')),
    code: textField(body, 'code'),
    retryAfterMs: field(body, 'retryAfterMs') === null ? null : numberField(body, 'retryAfterMs'),
    limit: textField(body, 'limit'),
  };
}

function rangeIn(value: unknown): readonly [number, number] | undefined {
  if (!Array.isArray(value)) return undefined;
  const [earliest, latest] = value.map((instant) => Date.parse(String(instant)));
  return earliest === undefined || latest === undefined ? undefined : [earliest, latest];
}

/** What the status says about the job: stored, surely not stored, or unknown (no answer, or a server that failed). */
export function admissionOutcome(event: AdmissionEvent): 'admitted' | 'refused' | 'unknown' {
  if (event.status === 202 || event.status === 200) return 'admitted';
  if (event.status === 0 || event.status >= 500) return 'unknown';
  return 'refused';
}
