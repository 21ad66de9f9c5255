import { createHash } from 'node:crypto';
import { encodeTime } from 'ulid';
import { DELIVERY_TYPE } from '../config/delivery-type.js';
import type { NewJob } from '../model/verdict.js';
import { urlOfMark } from '../model/webhook.js';

/** An end of a job, as the scripts wrote it down for whoever wants to be told. */
export interface OutboxEntry {
  /** Of the entry: `<ms>-<number>`. */
  readonly entryId: string;
  readonly type: string;
  readonly tenant: string;
  readonly id: string;
  /** completed, failed, expired or cancelled. */
  readonly ending: string;
  /** Milliseconds since 1970. */
  readonly atMs: number;
  /** What the job's hash says of its webhook. */
  readonly mark: string;
  /** The result as JSON, or the reason; '' where it was too large. */
  readonly value: string;
  /** Bytes of the whole value. */
  readonly bytes: number;
}

/** The payload of a delivery. */
export interface Delivery {
  /** `null`: where the tenant's webhook leads by then. */
  readonly url: string | null;
  /** As it is signed and sent. */
  readonly body: string;
}

/** The delivery of an end, as a job: always the same for the same entry, so that to admit it twice adds nothing. */
export function deliveryJob(entry: OutboxEntry): NewJob {
  const delivery: Delivery = { url: urlOfMark(entry.mark), body: bodyOf(entry) };
  return { id: deliveryId(entry), data: JSON.stringify(delivery), priority: 4, delayMs: 0, cost: 1 };
}

/** The `webhook-id` under which a delivery is sent, every time that it is tried. */
export function messageId(deliveryJobId: string): string {
  return `msg_${deliveryJobId.slice(0, 26)}`;
}

function bodyOf({ type, tenant, id, ending, atMs, value, bytes }: OutboxEntry): string {
  const about = JSON.stringify({ id, type, tenant, state: ending }).slice(0, -1);
  return `{"type":"job.${ending}","timestamp":"${new Date(atMs).toISOString()}","data":${about},${cameTo()}}}`;

  function cameTo(): string {
    const name = ending === 'completed' ? 'result' : 'error';
    if (value === '' && bytes > 0) return `"${name}Bytes":${bytes}`;
    // A result as the handler gave it: read and written again, numbers might lose digits.
    return `"${name}":${ending === 'completed' ? value : JSON.stringify(value)}`;
  }
}

const BASE32 = '0123456789abcdefghjkmnpqrstvwxyz';

/** A ULID of the instant of the end, whose other half is a digest in place of chance. */
function deliveryId({ entryId, type, tenant, id, ending }: OutboxEntry): string {
  const digest = createHash('sha256')
    .update(JSON.stringify([type, entryId, tenant, id, ending]))
    .digest();
  const rest = Array.from({ length: 16 }, (_, i) => BASE32[(digest[i] ?? 0) % 32]).join('');
  return `${encodeTime(Number(entryId.split('-')[0]), 10).toLowerCase()}${rest}.${DELIVERY_TYPE}.0`;
}
