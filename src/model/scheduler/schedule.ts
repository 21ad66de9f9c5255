import { FAIR_START, type FairState } from '../fair-queue.js';
import type { Rules } from './rules.js';
import type { ScheduledBucket } from './scheduled-bucket.js';

/**
 * Which buckets may start something, and when: `due` ones wait for an instant (`Infinity`: for an event), `ready` ones
 * stand under their start tags. A bucket is in at most one of them, and in neither when nothing of it waits or is delayed.
 */
export class Schedule {
  readonly due = new Map<ScheduledBucket, number>();
  readonly ready = new Map<ScheduledBucket, number>();
  fair: FairState = FAIR_START;
  /** Since when something has been ready without a pause; `undefined` while nothing is. */
  busySinceUs: number | undefined;
  readonly #rules: Rules;

  constructor(rules: Rules) {
    this.#rules = rules;
  }

  /** Of all that is ready, together. */
  get weights(): number {
    return [...this.ready.keys()].reduce((sum, { terms }) => sum + terms.weight, 0);
  }

  /** Puts the bucket where its jobs, its level and its caps say that it belongs. True when a time without a pause begins. */
  place(bucket: ScheduledBucket, nowUs: number): boolean {
    const waits = bucket.backlog.waiting.length > 0;
    if (waits && !bucket.backlogged) bucket.state = this.#rules.becomeBacklogged(bucket.state, nowUs);
    bucket.backlogged = waits;

    const at = this.#startableAt(bucket);
    if (at === undefined || at > nowUs) {
      this.ready.delete(bucket);
      if (this.ready.size === 0) this.busySinceUs = undefined;
    }
    if (at === undefined || at <= nowUs) this.due.delete(bucket);
    else this.due.set(bucket, at);
    return at !== undefined && at <= nowUs && this.#becomeReady(bucket, nowUs);
  }

  /** Buckets whose instant has come, the earliest first, at most `limit`. */
  ripe(nowUs: number, limit: number): ScheduledBucket[] {
    return [...this.due]
      .filter(([, at]) => at <= nowUs)
      .sort(([one, oneAt], [other, otherAt]) => oneAt - otherAt || (one.tenant < other.tenant ? -1 : 1))
      .slice(0, limit)
      .map(([bucket]) => bucket);
  }

  /** The ready bucket with the least start tag; of equal ones the first by name. */
  fairest(): { bucket: ScheduledBucket; tag: number } | undefined {
    let best: { bucket: ScheduledBucket; tag: number } | undefined;
    for (const [bucket, tag] of this.ready) {
      if (!best || tag < best.tag || (tag === best.tag && bucket.tenant < best.bucket.tenant)) best = { bucket, tag };
    }
    return best;
  }

  /** When the first due bucket may start something. */
  firstDueAtUs(): number {
    return [...this.due.values()].reduce((first, at) => Math.min(first, at), Infinity);
  }

  /** A job of `cost` was served under `tag`. */
  serve(bucket: ScheduledBucket, tag: number, cost: number): void {
    bucket.finish = this.#rules.finishTag(tag, cost, bucket.terms.weight);
    this.fair = this.#rules.serve(this.fair, tag, bucket.finish);
    this.ready.delete(bucket);
  }

  /** The cost of what the bucket was served is corrected by `units`, which makes its finish tag this one. */
  correct(bucket: ScheduledBucket, finish: number, units: number): void {
    const { virtualTime, maxFinish } = this.fair;
    bucket.finish = finish;
    this.fair = { virtualTime, maxFinish: Math.max(maxFinish, finish) };
    const tag = this.ready.get(bucket);
    if (tag === undefined) return;
    this.ready.set(bucket, units > 0 ? Math.max(tag, finish) : Math.min(tag, Math.max(virtualTime, finish)));
  }

  /** Nobody is ahead or behind once nothing is ready and nothing runs. */
  rest(running: number): void {
    if (running === 0 && this.ready.size === 0) this.fair = this.#rules.endBusyPeriod(this.fair);
  }

  #startableAt(bucket: ScheduledBucket): number | undefined {
    const { backlog, terms } = bucket;
    const delayed = backlog.delayed[0];
    if (!bucket.backlogged && !delayed) return undefined;
    if (bucket.paused || !this.#rules.hasSlot(bucket.active.size, terms.concurrency)) return Infinity;
    return bucket.backlogged ? bucket.startableAtUs(this.#rules) : delayed?.dueAtUs;
  }

  #becomeReady(bucket: ScheduledBucket, nowUs: number): boolean {
    if (this.ready.has(bucket)) return false;
    this.ready.set(bucket, this.#rules.startTag(this.fair, bucket.finish));
    if (this.busySinceUs !== undefined) return false;
    this.busySinceUs = nowUs;
    return true;
  }
}
