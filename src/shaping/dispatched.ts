import { asFields, asInteger, asList, asNumber, asText, asWord } from '../redis/reply.js';

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
  | { readonly kind: 'nothing'; readonly waitUs: number | null };

/** Where a shard stands in the order of its type, by start tags. */
export interface Turn {
  readonly virtualTime: number;
  /** The first that is ready; `null`: nothing is. */
  readonly head: number | null;
  /** Until something may be, where nothing is; `null` until an event. */
  readonly waitUs: number | null;
}

/** What lua/lib/dispatch_next.lua says. */
export function parseDispatched(raw: unknown): Dispatched {
  const [kind, first, tenant, id, ...fields] = asList(raw);
  if (asWord(kind, ['job', 'nothing']) === 'nothing') return { kind: 'nothing', waitUs: orNull(asInteger(first)) };
  const turn = first === '' ? null : parseTurn(asText(first).split(' '));
  return { kind: 'job', tenant: asText(tenant), id: asText(id), fields: asFields(fields), turn };
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
