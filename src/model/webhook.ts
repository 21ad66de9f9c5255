/** Ends of a job that somebody can be told of. */
export const WEBHOOK_EVENTS = ['completed', 'failed', 'expired', 'cancelled'] as const;
export type WebhookEvent = (typeof WEBHOOK_EVENTS)[number];

/** Where a job says itself that it is to be told of its end. */
export interface JobWebhook {
  /** `http` or `https`, in the one spelling that WHATWG URLs have. */
  readonly url: string;
  readonly events: readonly WebhookEvent[];
}

/** By which the scripts know an event; lua/lib/outbox.lua has the same. */
const LETTERS = { completed: 'c', failed: 'f', expired: 'e', cancelled: 'x' } as const satisfies Record<
  WebhookEvent,
  string
>;

/** What stands in a job's hash about its webhook: a letter for each event, and the URL if not its tenant's. '' for no event. */
export function hookMark(events: readonly WebhookEvent[], url?: string): string {
  const letters = WEBHOOK_EVENTS.filter((event) => events.includes(event)).map((event) => LETTERS[event]);
  if (letters.length === 0) return '';
  return url === undefined ? letters.join('') : `${letters.join('')} ${url}`;
}

/** The job's own URL, if it has one. */
export function urlOfMark(mark: string): string | null {
  const gap = mark.indexOf(' ');
  return gap < 0 ? null : mark.slice(gap + 1);
}
