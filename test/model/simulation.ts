import type { DoorVerdict } from '../../src/model/scheduler/door.js';
import { RULES, type Rules } from '../../src/model/scheduler/rules.js';
import type { BucketTerms, TypeTerms } from '../../src/model/scheduler/terms.js';
import { Scheduler } from '../../src/model/scheduler.js';

/** Where the simulated clock begins: some day in the second year of the epoch, in microseconds. */
export const BEGIN_US = 60_000_000_000_000;

const LIMIT = 1000;
const MOST_EVENTS = 200_000;

export interface Arrival {
  /** From the beginning. */
  readonly atUs: number;
  readonly tenant: string;
  readonly cost: number;
  /** The cost that it comes with, until its handler says what it really costs. */
  readonly thought?: number;
  readonly priority?: number;
  readonly delayMs?: number;
}

/** What a scheduler has to cope with. Lists of times are gone through again and again. */
export interface Workload {
  readonly terms: Readonly<Record<string, BucketTerms>>;
  readonly arrivals: readonly Arrival[];
  /** Other terms of a bucket, from then on. */
  readonly changes?: readonly { readonly atUs: number; readonly tenant: string; readonly terms: BucketTerms }[];
  readonly capacity?: TypeTerms;
  readonly slots: number;
  /** How late a worker looks after something may start. */
  readonly latenessUs: readonly number[];
  /** How long a job runs. */
  readonly serviceUs: readonly number[];
  readonly beginUs?: number;
  /** When handlers know what a job really costs. */
  readonly costKnown?: 'at the start' | 'at the end';
}

/** What became of one job. Instants from the beginning. */
export interface TracedJob {
  readonly id: string;
  readonly tenant: string;
  readonly cost: number;
  readonly priority: number;
  readonly admittedAtUs: number;
  /** When it joined what waits, at the earliest. */
  readonly joinsAtUs: number;
  readonly verdict: DoorVerdict;
  /** Jobs that stood before it when it was admitted. */
  readonly ahead: ReadonlySet<string>;
  startedAtUs: number | undefined;
}

/** A moment at which something was admitted, or `start` began, and what waits after that. */
export interface Moment {
  readonly atUs: number;
  readonly start?: TracedJob;
  readonly backlogged: ReadonlySet<string>;
  readonly running: ReadonlyMap<string, number>;
}

export interface Trace {
  readonly jobs: readonly TracedJob[];
  /** In the order of their starts. */
  readonly starts: readonly TracedJob[];
  readonly moments: readonly Moment[];
}

/** Lives through a workload, to its end: a pool of workers takes from the model of the scheduler what that hands out. */
export function simulate(workload: Workload, rules: Rules = RULES): Trace {
  const run = new Simulation(workload, rules);
  run.live();
  return { jobs: [...run.jobs.values()], starts: run.starts, moments: run.moments };
}

class Simulation {
  readonly jobs = new Map<string, TracedJob>();
  readonly starts: TracedJob[] = [];
  readonly moments: Moment[] = [];
  readonly #workload: Workload;
  readonly #scheduler: Scheduler;
  readonly #beginUs: number;
  readonly #events: { readonly atUs: number; readonly act: () => void }[] = [];
  readonly #lateness: () => number;
  readonly #service: () => number;
  #nowUs = 0;
  #nextLookUs = Infinity;
  #free: number;
  #tokens = 0;

  constructor(workload: Workload, rules: Rules) {
    this.#workload = workload;
    this.#scheduler = new Scheduler(rules);
    this.#beginUs = workload.beginUs ?? BEGIN_US;
    this.#free = workload.slots;
    this.#lateness = again(workload.latenessUs);
    this.#service = again(workload.serviceUs);
    if (workload.capacity) this.#scheduler.configure(this.#beginUs, workload.capacity);
  }

  live(): void {
    const { arrivals, changes = [] } = this.#workload;
    for (const change of changes) this.#at(change.atUs, () => this.#change(change.tenant, change.terms));
    for (const arrival of arrivals) this.#at(arrival.atUs, () => this.#admit(arrival));
    for (let events = 0; events < MOST_EVENTS; events += 1) {
      const next = this.#events.pop();
      if (!next) return;
      this.#nowUs = Math.max(this.#nowUs, next.atUs);
      next.act();
    }
    throw new Error('the simulation has no end');
  }

  get #raw(): number {
    return this.#beginUs + this.#nowUs;
  }

  /** Events of one instant happen in the order in which they were put down. */
  #at(atUs: number, act: () => void): void {
    let place = this.#events.length;
    for (let other = this.#events[place - 1]; other && other.atUs <= atUs; other = this.#events[place - 1]) place -= 1;
    this.#events.splice(place, 0, { atUs, act });
  }

  #wake(): void {
    this.#lookAt(this.#nowUs);
  }

  /** A worker means to look at `dueUs`, and does so some time later, unless one looks earlier anyway. */
  #lookAt(dueUs: number): void {
    const atUs = dueUs + this.#lateness();
    if (atUs >= this.#nextLookUs) return;
    this.#nextLookUs = atUs;
    this.#at(atUs, () => {
      if (this.#nextLookUs !== atUs) return;
      this.#nextLookUs = Infinity;
      this.#look();
    });
  }

  #termsOf(tenant: string): BucketTerms {
    const { changes = [], terms } = this.#workload;
    const last = changes.filter((change) => change.tenant === tenant && change.atUs <= this.#nowUs).at(-1);
    const found = last?.terms ?? terms[tenant];
    if (!found) throw new Error(`no terms of ${tenant}`);
    return found;
  }

  #admit({ tenant, cost, thought = cost, priority = 4, delayMs = 0 }: Arrival): void {
    const id = String(this.jobs.size).padStart(6, '0');
    const { waiting } = this.#scheduler.state.bucket(tenant).backlog;
    const ahead = new Set(waiting.filter((job) => job.priority <= priority).map((job) => job.id));
    const offer = { id, cost: thought, priority, delayMs, bytes: 0 };
    const [verdict] = this.#scheduler.admit(this.#raw, tenant, this.#termsOf(tenant), [offer]).verdicts;
    if (!verdict) throw new Error('no verdict');
    // A delay counts from a whole millisecond, the next one.
    const joinsAtUs = delayMs > 0 ? (Math.ceil(this.#raw / 1000) + delayMs) * 1000 - this.#beginUs : this.#nowUs;
    const traced = { id, tenant, cost, priority, admittedAtUs: this.#nowUs, joinsAtUs, verdict, ahead };
    this.jobs.set(id, { ...traced, startedAtUs: undefined });
    this.#note();
    this.#wake();
  }

  #change(tenant: string, terms: BucketTerms): void {
    this.#scheduler.retime(this.#raw, tenant, terms);
    this.#wake();
  }

  #look(): void {
    while (this.#free > 0) {
      this.#tokens += 1;
      const token = `t${this.#tokens}`;
      const found = this.#scheduler.dispatch(this.#raw, token, LIMIT);
      if (found.kind === 'nothing') {
        if (found.waitUs !== null) this.#lookAt(this.#nowUs + found.waitUs);
        return;
      }
      this.#start(token, found.tenant, found.id);
    }
  }

  #start(token: string, tenant: string, id: string): void {
    const job = this.jobs.get(id);
    if (!job) throw new Error(`no job ${id}`);
    this.#free -= 1;
    job.startedAtUs = this.#nowUs;
    this.starts.push(job);
    this.#note(job);
    const isKnownLate = this.#workload.costKnown === 'at the end';
    if (!isKnownLate) this.#scheduler.charge(this.#raw, token, job.cost);
    this.#at(this.#nowUs + this.#service(), () => {
      this.#free += 1;
      if (isKnownLate) this.#scheduler.charge(this.#raw, token, job.cost);
      this.#scheduler.settle(this.#raw, { token, tenant, id, outcome: { kind: 'completed' } }, LIMIT);
      this.#wake();
    });
  }

  #note(start?: TracedJob): void {
    const buckets = [...this.#scheduler.state.buckets.values()];
    this.moments.push({
      atUs: this.#nowUs,
      ...(start && { start }),
      backlogged: new Set(buckets.filter(({ backlog }) => backlog.waiting.length > 0).map(({ tenant }) => tenant)),
      running: new Map(buckets.map(({ tenant, active }) => [tenant, active.size])),
    });
  }
}

function again(times: readonly number[]): () => number {
  let at = -1;
  return () => {
    at += 1;
    return times[at % times.length] ?? 0;
  };
}
