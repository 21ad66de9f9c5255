import { RedisFull } from '../redis/outage.js';
import type { AdmitAnswered, AdmitVerdict } from './scripts.js';

/** A verdict, and the clock of Redis as it was spoken. */
interface TimedVerdict {
  readonly verdict: AdmitVerdict;
  readonly unixMs: number;
}

type Refusal = AdmitVerdict & { readonly kind: 'rejected' };

/**
 * Jobs of one call. Redis does nothing else meanwhile, and a job takes 0.1 ms: a batch of a thousand in one call would move
 * the starts of all tenants by more than the least slack, of 25 ms.
 */
export const ADMITTED_AT_ONCE = 50;

/**
 * Admits the jobs of one bucket in their order, a few at a time. What is admitted is a prefix all the same: once a job does
 * not fit, the calls that follow find the door closed, and its refusal is that of the jobs behind it. When a call fails, what
 * came before it is stored. Where it failed because Redis is full, that is told: there are no verdicts on the jobs of that call and
 * behind it, of which nothing is stored.
 */
export async function admitInSteps<Job>(
  jobs: readonly Job[],
  admit: (step: readonly Job[], closed: boolean) => Promise<AdmitAnswered>,
): Promise<Pick<AdmitAnswered, 'depth' | 'freePlaces'> & { readonly verdicts: readonly TimedVerdict[] }> {
  const verdicts: TimedVerdict[] = [];
  let closedBy: Refusal | undefined;
  let from = 0;
  let last: AdmitAnswered | undefined;
  for (;;) {
    let reply: AdmitAnswered;
    try {
      reply = await admit(jobs.slice(from, from + ADMITTED_AT_ONCE), closedBy !== undefined);
    } catch (error) {
      if (error instanceof RedisFull && last !== undefined) return { ...last, verdicts };
      throw error;
    }
    last = reply;
    for (const verdict of reply.verdicts) {
      const told = closedBy && isDoorClosed(verdict) ? closedBy : verdict;
      verdicts.push({ verdict: told, unixMs: reply.unixMs });
      if (closesDoor(verdict)) closedBy ??= verdict;
    }
    from += ADMITTED_AT_ONCE;
    if (from >= jobs.length) return { ...reply, verdicts };
  }
}

function isDoorClosed(verdict: AdmitVerdict): boolean {
  return verdict.kind === 'rejected' && verdict.reason === 'door_closed';
}

function closesDoor(verdict: AdmitVerdict): verdict is Refusal {
  if (verdict.kind !== 'rejected') return false;
  return verdict.reason === 'bucket_full' || verdict.reason === 'wait_too_long' || verdict.reason === 'rate_limited';
}
