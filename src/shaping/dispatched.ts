import { asInteger, asList, asNumber, asText, asWord } from '../redis/reply.js';

/** The fields of a job's hash: BullMQ's own, and Headgate's, which begin with `hg:`. */
export type JobFields = ReadonlyMap<string, string>;

/** What a dispatch came to. `waitUs` is relative; `null` until an event. */
export type Dispatched =
  | {
      readonly kind: 'job';
      readonly tenant: string;
      readonly id: string;
      readonly fields: JobFields;
      /** Where its shard stands now; `null` where the type has but one. */
      readonly turn: Turn | null;
    }
  | {
      readonly kind: 'nothing';
      readonly waitUs: number | null;
      /** What is ready lacks a permit of its type to start; absent where that is not so. */
      readonly lacks?: ReadyButForPermit;
    };

/** What a job needs to start: a permit for its cost, which lasts by the clock of its shard, whose time this was (µs). */
export interface LackingPermit {
  readonly cost: number;
  readonly atUs: number;
}

/** A permit that is lacking, and where the shard stands. */
export interface ReadyButForPermit extends LackingPermit {
  readonly turn: Turn;
}

/** Where a shard stands in the order of its type, by start tags. */
export interface Turn {
  readonly virtualTime: number;
  /** The first that is ready; `null`: nothing is. */
  readonly head: number | null;
  /** Until something may be, where nothing is; `null` until an event. */
  readonly waitUs: number | null;
}

/** In the order of lua/lib/handed_job.lua. */
const HANDED = ['data', 'opts', 'timestamp', 'processedOn', 'ats', 'atm', 'hg:c', 'hg:n', 'hg:r', 'hg:u', 'hg:w'];
const FIRST_HANDED = 4;

function handedFields(reply: readonly unknown[]): JobFields {
  const fields = new Map<string, string>();
  for (const [i, name] of HANDED.entries()) {
    const value = reply[FIRST_HANDED + i];
    if (value !== null) fields.set(name, asText(value));
  }
  return fields;
}

/** What lua/lib/dispatch_next.lua says. */
export function parseDispatched(raw: unknown): Dispatched {
  const reply = asList(raw);
  const [kind, first, tenant, id] = reply;
  const word = asWord(kind, ['job', 'nothing', 'permit']);
  if (word === 'nothing') return { kind: 'nothing', waitUs: orNull(asInteger(first)) };
  const turn = first === '' ? null : parseTurn(asText(first).split(' '));
  if (word === 'permit' && turn !== null) {
    return { kind: 'nothing', waitUs: 0, lacks: { cost: asNumber(tenant), atUs: asNumber(id), turn } };
  }
  return { kind: 'job', tenant: asText(tenant), id: asText(id), fields: handedFields(reply), turn };
}

/** Virtual time, the first start tag (`none` where nothing is ready) and the wait, as lua/turn.lua says it. */
export function parseTurn([virtualTime, head, waitUs]: readonly unknown[]): Turn {
  return {
    virtualTime: asNumber(virtualTime),
    head: head === 'none' ? null : asNumber(head),
    waitUs: orNull(asNumber(waitUs)),
  };
}

/** -1 stands for "none" in replies, which hold no nil. */
export function orNull(value: number): number | null {
  return value < 0 ? null : value;
}
