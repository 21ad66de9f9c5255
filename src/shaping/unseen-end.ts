import { asInteger, asText, asWord } from '../redis/reply.js';
import type { JobFields } from './dispatched.js';
import { type RunJob, runJobOf, waitOf } from './run-job.js';

/** What the script sweep hands over of an end that no worker and no caller saw; the tenant is percent-encoded. */
export interface UnseenRecord {
  readonly tenant: string;
  readonly id: string;
  readonly ending: UnseenEnding;
  readonly reason: string;
  /** When it ended, in milliseconds since 1970. */
  readonly atMs: number;
  /** Of the job's hash. */
  readonly fields: JobFields;
}

const ENDINGS = ['expired', 'failed', 'cancelled'] as const;

/** `failed` and `cancelled`: the worker that ran it is gone. */
export type UnseenEnding = (typeof ENDINGS)[number];

/** The end of a job that no worker and no caller saw, for the log. Durations in milliseconds. */
export interface UnseenEnd {
  readonly job: RunJob;
  readonly ending: UnseenEnding;
  readonly reason: string;
  /** Until its last start, or its end if it never started. */
  readonly waitMs: number;
  /** Of the last run, until it was given up; `null` if the job never started. */
  readonly runMs: number | null;
}

const FIELDS = ['timestamp', 'processedOn', 'opts', 'atm', 'hg:r'] as const;
/** Values of one end, as lua/lib/unseen.lua says. */
const WIDTH = 5 + FIELDS.length;

/** Reads ends as the script writes them one behind the other. */
export function parseUnseen(values: readonly string[]): UnseenRecord[] {
  return Array.from({ length: values.length / WIDTH }, (_, i) => parseRecord(values.slice(i * WIDTH, (i + 1) * WIDTH)));
}

function parseRecord([tenant, id, ending, reason, at, ...ofHash]: readonly string[]): UnseenRecord {
  return {
    ...{ tenant: asText(tenant), id: asText(id), ending: asWord(ending, ENDINGS), reason: asText(reason) },
    atMs: asInteger(at),
    fields: new Map(FIELDS.flatMap((name, i) => (ofHash[i] ? [[name, ofHash[i]] as const] : []))),
  };
}

/** The same for a log. */
export function unseenEndOf(type: string, { tenant, id, ending, reason, atMs, fields }: UnseenRecord): UnseenEnd {
  const startedAt = fields.get('processedOn');
  const start = startedAt ?? String(atMs);
  return {
    job: runJobOf(type, { tenant, id, fields }),
    ...{ ending, reason },
    waitMs: waitOf(new Map([...fields, ['processedOn', start]])),
    runMs: startedAt === undefined ? null : Math.max(0, atMs - Number(startedAt)),
  };
}
