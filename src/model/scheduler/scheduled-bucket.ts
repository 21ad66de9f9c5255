import { type BucketState, EMPTY_BUCKET, type Pace } from '../bucket.js';
import { Backlog } from './backlog.js';
import type { Rules } from './rules.js';
import type { ScheduledJob } from './scheduled-job.js';
import { type BucketTerms, sameTerms } from './terms.js';

const NO_PACE: Pace = { emissionUs: 1e6, jobEmissionUs: 0, burst: 1, slackUs: 250_000 };
const NO_TERMS = { weight: 1, concurrency: 1e15, depth: 1000, maxBytes: 1e15, maxWaitUs: 1e18, mode: 'shape' as const };

/** One bucket: its jobs, its level and its place in the fair order. */
export class ScheduledBucket {
  readonly tenant: string;
  readonly backlog = new Backlog();
  readonly active = new Set<ScheduledJob>();
  state: BucketState = EMPTY_BUCKET;
  /** Finish tag of the job last started. */
  finish = 0;
  /** Whether something waited when the bucket was last put in its place. */
  backlogged = false;
  /** Nothing starts before this instant, because its upstream is busy. */
  heldUntilUs = 0;
  /** Paused by hand, whatever the profile says. */
  stopped = false;
  #stated: BucketTerms | undefined;
  #terms: BucketTerms = { ...NO_TERMS, pace: NO_PACE };

  constructor(tenant: string) {
    this.tenant = tenant;
  }

  /** What holds now; its intervals are finite even while the rate is 0. */
  get terms(): BucketTerms {
    return this.#terms;
  }

  get paused(): boolean {
    return this.stopped || this.hasNoRate;
  }

  /** Whether the profile's rate, or its jobRate, is 0. */
  get hasNoRate(): boolean {
    const { emissionUs = 0, jobEmissionUs = 0 } = this.#stated?.pace ?? {};
    return emissionUs === Infinity || jobEmissionUs === Infinity;
  }

  /** What one job may cost at most, where it is charged at the door. */
  get maxPolicedCost(): number {
    return this.#stated?.pace.emissionUs === 0 ? Infinity : this.#terms.pace.burst;
  }

  /** The instant from which the next waiting job may start: by the rate, unless it paid at the door, and by what holds it. */
  startableAtUs(rules: Rules): number {
    const byRateUs = this.backlog.waiting[0]?.charged ? 0 : rules.startableAtUs(this.state, this.#terms.pace);
    return Math.max(byRateUs, this.heldUntilUs);
  }

  /** Other terms hold from now on; the level stays. A rate of 0 leaves the interval as it was. False when nothing changed. */
  apply(stated: BucketTerms, rules: Rules, nowUs: number): boolean {
    if (this.#stated && sameTerms(this.#stated, stated)) return false;
    const was = this.#terms.pace;
    const pace = {
      ...stated.pace,
      emissionUs: finiteOr(stated.pace.emissionUs, was.emissionUs),
      jobEmissionUs: finiteOr(stated.pace.jobEmissionUs, was.jobEmissionUs),
    };
    if (this.#stated) this.state = rules.reRate(this.state, was, pace, nowUs);
    this.#stated = stated;
    this.#terms = { ...stated, pace };
    return true;
  }
}

function finiteOr(intervalUs: number, storedUs: number): number {
  return intervalUs === Infinity ? storedUs : intervalUs;
}
