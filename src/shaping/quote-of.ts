import { msOf } from './ms-of.js';
import { releaseBetween } from './release-between.js';
import type { scripts } from './scripts.js';
import type { Quote, QuotedStart } from './shaping.js';

type QuoteReply = ReturnType<(typeof scripts)['quote']['parse']>;
type StartReply = (QuoteReply & { kind: 'quoted' })['first'];

/** What the script said of jobs that would come now, in the words of the port. */
export function quoteOf(reply: QuoteReply): Quote {
  if (reply.kind === 'cost_exceeds_max') return { verdict: reply.kind, max: reply.max };
  const { first, last, unixMs, meanRunUs, depth, freePlaces } = reply;
  const meanRunMs = meanRunUs === 0 ? null : msOf(meanRunUs);
  return {
    verdict: 'quoted',
    first: startOf(first, unixMs),
    last: startOf(last, unixMs),
    meanRunMs,
    depth,
    freePlaces,
  };
}

function startOf({ waitUs, basis, between }: StartReply, unixMs: number): QuotedStart {
  return { releaseAtMs: unixMs + msOf(waitUs), basis, releaseBetweenMs: releaseBetween(between, unixMs) };
}
