import type { ScheduledJob } from './scheduled-job.js';

/** What stands before a job. */
export interface Before {
  readonly jobs: number;
  readonly cost: number;
  /** Of these, what pays when it starts. */
  readonly unpaid: { readonly jobs: number; readonly cost: number; readonly lastCost: number };
  /** Whether all of this is known, and is not merely the least that it can be. */
  readonly isKnown: boolean;
  /** Whether anything unpaid of it is more urgent: then more of that may come and go before the job. */
  readonly isUrgent: boolean;
}

/**
 * The jobs of one bucket that have not started, in the order in which they will: by priority, then in the order of
 * arrival, those given back first. Delayed jobs stand beside them, by the instant at which they fall due.
 */
export class Backlog {
  readonly #waiting: ScheduledJob[] = [];
  readonly #delayed: ScheduledJob[] = [];
  #lastOrder = 0;

  get waiting(): readonly ScheduledJob[] {
    return this.#waiting;
  }

  get delayed(): readonly ScheduledJob[] {
    return this.#delayed;
  }

  /** Jobs that count against the depth. */
  get size(): number {
    return this.#waiting.length + this.#delayed.length;
  }

  /** Payload that counts against maxBytes. */
  get bytes(): number {
    return [...this.#waiting, ...this.#delayed].reduce((sum, job) => sum + job.bytes, 0);
  }

  /** The job waits at the front or the back of its priority. */
  join(job: ScheduledJob, end: 'front' | 'back'): void {
    this.#lastOrder += 1;
    job.state = 'waiting';
    job.order = end === 'front' ? 0 : this.#lastOrder;
    insert(this.#waiting, job, startsBefore);
  }

  /** The job joins what waits at `dueAtUs`; of several with one instant the first to come is first. */
  delay(job: ScheduledJob, dueAtUs: number, joinsAt: ScheduledJob['joinsAt']): void {
    job.state = 'delayed';
    job.dueAtUs = dueAtUs;
    job.joinsAt = joinsAt;
    insert(this.#delayed, job, (one, other) => one.dueAtUs < other.dueAtUs);
  }

  /** Delayed jobs whose instant has come join what waits, at most `limit` of them. */
  promote(nowUs: number, limit: number): void {
    const later = this.#delayed.findIndex((job) => job.dueAtUs > nowUs);
    const fellDue = Math.min(later === -1 ? this.#delayed.length : later, limit);
    for (const job of this.#delayed.splice(0, fellDue)) this.join(job, job.joinsAt);
  }

  /** The next job to start leaves. */
  take(): ScheduledJob | undefined {
    return this.#waiting.shift();
  }

  /** The job leaves; false when it is not here. */
  remove(job: ScheduledJob): boolean {
    for (const list of [this.#waiting, this.#delayed]) {
      const at = list.indexOf(job);
      if (at >= 0) return list.splice(at, 1).length === 1;
    }
    return false;
  }

  /** What stands before `job`. */
  before(job: ScheduledJob): Before {
    const ahead = this.#waiting.slice(0, this.#waiting.indexOf(job));
    const unpaid = ahead.filter(isUnpaid);
    const lastCost = unpaid.at(-1)?.cost ?? 0;
    return {
      jobs: ahead.length,
      cost: costOf(ahead),
      unpaid: { jobs: unpaid.length, cost: costOf(unpaid), lastCost },
      isKnown: true,
      isUrgent: unpaid.some(({ priority }) => priority < job.priority),
    };
  }

  /**
   * What stands before a job that would join at the end of `priority`, by what is counted: unpaid cost for each priority,
   * and how many jobs were paid for, of what cost. So where some were paid for and some stand behind, it is the least that it
   * can be; and the last unpaid job costs 1 where all of them do, else at most all of it.
   */
  beforeEndOf(priority: number): Before {
    const ahead = this.#waiting.filter((job) => job.priority <= priority);
    const unpaid = this.#waiting.filter(isUnpaid);
    const paid = this.#waiting.filter((job) => !isUnpaid(job));
    const cost = costOf(ahead.filter(isUnpaid));
    const isLast = ahead.length === this.#waiting.length;
    return {
      jobs: ahead.length,
      cost: isLast ? cost + costOf(paid) : cost,
      unpaid: {
        jobs: Math.max(0, ahead.length - paid.length),
        cost,
        lastCost: unpaid.every((job) => job.cost === 1) ? 1 : cost,
      },
      isKnown: paid.length === 0 || ahead.length === 0 || isLast,
      isUrgent: unpaid.some((job) => job.priority < priority),
    };
  }
}

function isUnpaid(job: ScheduledJob): boolean {
  return job.charged === undefined;
}

function costOf(jobs: readonly ScheduledJob[]): number {
  return jobs.reduce((sum, job) => sum + job.cost, 0);
}

function startsBefore(one: ScheduledJob, other: ScheduledJob): boolean {
  if (one.priority !== other.priority) return one.priority < other.priority;
  return one.order !== other.order ? one.order < other.order : one.order === 0 && one.id < other.id;
}

/** Behind all that it does not come before. */
function insert(list: ScheduledJob[], job: ScheduledJob, before: typeof startsBefore): void {
  let at = list.length;
  for (let other = list[at - 1]; other && before(job, other); other = list[at - 1]) at -= 1;
  list.splice(at, 0, job);
}
