/**
 * Start-time fair queuing: P. Goyal, H. Vin, H. Cheng, "Start-time Fair Queuing: A Scheduling Algorithm for Integrated
 * Services Packet Switching Networks", SIGCOMM 1996, with one tag per ready bucket instead of one per packet.
 *
 * A bucket that becomes ready gets the start tag `max(V, finish)`, so that an idle one earns no credit, and of equal ones
 * that which was idle goes first: where costs and weights are alike, all that is ready stands under one tag or two, and who
 * comes now and then would wait for half a round of all others. So its tag is the number just below V. The least tag is
 * served first; serving a job of cost c sets `finish = start + c / weight`. Virtual time V is the start tag last served,
 * and the greatest finish tag once nothing is ready and nothing runs. For any two buckets that stay ready the served
 * costs differ by at most `cᵢ/wᵢ + cⱼ/wⱼ` (theorem 1 there).
 */
export interface FairState {
  /** The start tag last served. */
  readonly virtualTime: number;
  /** The greatest finish tag handed out. */
  readonly maxFinish: number;
}

/** Before anything was served. */
export const FAIR_START: FairState = { virtualTime: 0, maxFinish: 0 };

/** The tag under which a bucket becomes ready. */
export function startTag(fair: FairState, finish: number): number {
  const { virtualTime } = fair;
  return finish > virtualTime ? finish : virtualTime - virtualTime * Number.EPSILON;
}

/** The finish tag of a job of `cost` that was served under `start`. */
export function finishTag(start: number, cost: number, weight: number): number {
  return start + cost / weight;
}

/** A job was served under `start` and got `finish`. */
export function serve(fair: FairState, start: number, finish: number): FairState {
  return { virtualTime: Math.max(fair.virtualTime, start), maxFinish: Math.max(fair.maxFinish, finish) };
}

/**
 * Follows what was served in other shards of the same type, up to `floor`, a start tag: where nothing is ready, or what is ready
 * became so since (`head` absent), virtual time is at least that; else it goes no further than the first start tag.
 */
export function keepUp(fair: FairState, floor: number, head = Infinity): FairState {
  return { ...fair, virtualTime: Math.max(fair.virtualTime, Math.min(floor, head)) };
}

/** Nothing is ready and nothing runs: the busy period is over, and nobody is ahead or behind. */
export function endBusyPeriod(fair: FairState): FairState {
  return { virtualTime: Math.max(fair.virtualTime, fair.maxFinish), maxFinish: fair.maxFinish };
}
