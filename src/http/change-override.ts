import { Type } from 'typebox';
import { overrideFault } from '../config/override-relations.js';
import { OVERRIDE_FIELDS } from '../config/override-schema.js';
import type { OverrideSubject } from '../config/override-subject.js';
import { changedValues, type OverrideFault, readOverride } from '../config/read-override.js';
import type { Administration } from '../shaping/administration.js';
import { accepted, type Checked, refused } from './problems.js';
import { withWebhookSecret } from './tenant-webhook.js';

/** A body of overrides is small, however many types a tenant has fields for. */
export const OVERRIDE_BYTES = 64 * 1024;

/** The body of a request for overrides, for the description of its route: the fields are read by the schema of the file. */
export function overrideBody(kind: OverrideSubject['kind']): Type.TObject {
  const names = Object.keys(OVERRIDE_FIELDS[kind].properties);
  const field = Type.Optional(Type.Unknown({ description: 'as in the configuration file; null clears the override' }));
  return Type.Object(Object.fromEntries(names.map((name) => [name, field])), { additionalProperties: false });
}

/** What came of a change. */
export interface Changed {
  /** Buckets that were re-timed. */
  readonly retimed: number;
  /** Made because there was none, and shown this once. */
  readonly webhookSecret?: string;
}

/** Changes what a subject overrides, as the body says. Nothing is stored of a bad one. */
export async function changeOverride(
  admin: Administration,
  subject: OverrideSubject,
  body: unknown,
  replace: boolean,
): Promise<Checked<Changed>> {
  if (body === undefined) {
    const detail = 'The body states the fields to override, as in the configuration file.';
    return refused({ code: 'missing_field', field: 'body', detail });
  }
  const held = admin.live.values(subject);
  const read = readOverride(OVERRIDE_FIELDS[subject.kind], body, held);
  if ('fault' in read) return faulty(read.fault);
  const { change, made } = withWebhookSecret(admin.live, subject, body, read.change, replace);
  const fault = overrideFault(admin.live, subject, changedValues(held, change, replace));
  if (fault !== undefined) return faulty(fault);
  const retimed = await admin.change(subject, change, replace);
  return accepted({ retimed, ...(made !== undefined && { webhookSecret: made }) });
}

/** Clears everything that was overridden of a subject; answers how many buckets were re-timed. */
export function clearOverrides(admin: Administration, subject: OverrideSubject): Promise<number> {
  return admin.change(subject, new Map(), true);
}

function faulty({ kind, field, message }: OverrideFault): Checked<never> {
  return refused({
    code: kind === 'unknown' ? 'unknown_field' : 'invalid_field',
    field: field || 'body',
    detail: `\`${field || 'body'}\`: ${/[.?]$/.test(message) ? message : `${message}.`}`,
  });
}
