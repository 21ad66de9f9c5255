/** What one stream said in one reply to XREAD. */
export interface StreamEvents {
  readonly key: string;
  /** Events about jobs, oldest first; those about no job have an empty `jobId`. */
  readonly events: readonly { readonly event: string; readonly jobId: string }[];
  /** The id of the last entry. */
  readonly last: string;
}

type Reply = readonly (readonly [
  key: string,
  entries: readonly (readonly [id: string, fields: readonly string[]])[],
])[];

/**
 * The events in a reply to XREAD of streams that BullMQ writes; none when it waited in vain. What all keys on the server
 * begin with is taken off theirs.
 */
export function readEvents(reply: Reply | null, keyPrefix: string): StreamEvents[] {
  return (reply ?? []).map(([key, entries]) => ({
    key: key.slice(keyPrefix.length),
    events: entries.map(([, fields]) => ({ event: fieldOf(fields, 'event'), jobId: fieldOf(fields, 'jobId') })),
    last: entries.at(-1)?.[0] ?? '0-0',
  }));
}

/** True when one id of a stream's entry comes before another. */
export function isBefore(one: string, other: string): boolean {
  const [ms = 0, place = 0] = one.split('-').map(Number);
  const [otherMs = 0, otherPlace = 0] = other.split('-').map(Number);
  return ms < otherMs || (ms === otherMs && place < otherPlace);
}

function fieldOf(fields: readonly string[], name: string): string {
  const at = fields.findIndex((field, i) => i % 2 === 0 && field === name);
  return at < 0 ? '' : (fields[at + 1] ?? '');
}
