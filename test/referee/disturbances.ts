import type { BucketRecord, Evidence } from './case-file.js';
import { grouped } from './grouped.js';
import { seenEnds } from './job-ends.js';
import { lastUntil } from './last-until.js';
import type { ScheduledStart } from './schedule.js';
import { termsAt } from './terms.js';

interface Bounds {
  readonly from: number;
  readonly to: number;
}

/** What may lawfully move a start of one bucket away from what was promised for it. */
export class Disturbances {
  readonly #bucket: BucketRecord;
  readonly #outages: readonly Bounds[];
  /** Starts behind which everything waits longer than it was told: held back by a lack of slots, or taken by a second run. */
  readonly #setbacks: readonly number[];
  /** Times within which a job left the line without a start. */
  readonly #departures: readonly Bounds[];
  /** When jobs of each priority may have joined the line. */
  readonly #joins: ReadonlyMap<number, readonly Bounds[]>;

  constructor(file: Evidence, bucket: BucketRecord, schedule: readonly ScheduledStart[]) {
    this.#bucket = bucket;
    this.#outages = file.outages;
    this.#setbacks = schedule
      .filter(({ run, held }) => held || file.jobs.get(run.job)?.runs[0] !== run)
      .map(({ run }) => run.startAt);
    this.#departures = bucket.jobs.flatMap((job) => {
      const unstarted = seenEnds(job).find(({ state }) => state === 'cancelled' || state === 'expired');
      if (unstarted === undefined) return [];
      const asked = Math.min(...job.cancellations.map((event) => event.sentAt));
      return [{ from: asked === Infinity ? job.admission.sentAt : asked, to: unstarted.answeredAt }];
    });
    this.#joins = grouped(
      [
        ...bucket.jobs.map((job) => ({ priority: job.admission.priority, from: job.joinLo, to: job.joinHi })),
        ...bucket.unknowns.map(({ priority, sentAt, answeredAt, delayMs }) => ({
          priority,
          from: sentAt + delayMs,
          to: answeredAt + delayMs,
        })),
      ],
      ({ priority }) => priority,
    );
  }

  /** True when something between these instants may have brought a start forward. */
  mayHasten(from: number, to: number): boolean {
    return this.#shaken(from, to) || this.#departures.some((each) => touches(each, from, to));
  }

  /** True when something between these instants may have put off a start of this priority. */
  mayDelay(from: number, to: number, priority: number): boolean {
    if (this.#shaken(from, to) || this.#setBack(from, to)) return true;
    return [...this.#joins].some(([other, joins]) => other < priority && joins.some((each) => touches(each, from, to)));
  }

  #setBack(from: number, to: number): boolean {
    return (this.#setbacks[lastUntil(this.#setbacks, (at) => at, from) + 1] ?? Infinity) <= to;
  }

  /** The terms changed, or something was broken on purpose. */
  #shaken(from: number, to: number): boolean {
    const { pieces } = this.#bucket;
    if (pieces.length > 1 && termsAt(pieces, from) !== termsAt(pieces, to)) return true;
    return this.#outages.some((each) => touches(each, from, to));
  }
}

function touches(bounds: Bounds, from: number, to: number): boolean {
  return bounds.from <= to && bounds.to >= from;
}
