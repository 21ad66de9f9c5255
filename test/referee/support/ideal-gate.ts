import { intervalMs, type Terms, termsFrom } from '../contract.js';
import type { Trace, TraceEvent } from '../trace.js';
import { IdealBucket, type Waiting } from './ideal-bucket.js';
import type { Arrival, Retuning, Scenario } from './scenario.js';

/** The wall clock of the simulated Redis at instant 0. */
const WALL_ORIGIN_MS = Date.UTC(2026, 0, 1);
/** Between a handler's end and its settling. */
const SETTLE_MS = 1;
const STEPS = 1_000_000;

/** Runs a scenario through a gate that keeps every guarantee by construction, and returns what a referee would have seen. */
export function throughIdealGate(scenario: Scenario): Trace {
  return new IdealGate(scenario).run();
}

class IdealGate {
  readonly #type: string;
  readonly #slots: number;
  readonly #capacity: Terms;
  readonly #buckets: readonly IdealBucket[];
  readonly #states = new Map<string, string>();
  readonly #trace: TraceEvent[] = [];
  #agenda: { readonly at: number; readonly act: () => void }[] = [];
  #now = 0;
  #typeTat = 0;
  #virtualTime = 0;
  #running = 0;
  #runs = 0;

  constructor({ contract, arrivals, changes }: Scenario) {
    const type = contract.types[0];
    if (type === undefined) throw new Error('a scenario needs a type');
    this.#type = type.type;
    this.#slots = type.slots ?? Infinity;
    this.#capacity = termsFrom(type.capacity ?? {}, type.slackMs);
    this.#buckets = contract.buckets.map((each) => new IdealBucket(each.tenant, each, type.slackMs));
    for (const [index, arrival] of arrivals.entries())
      this.#at(arrival.at, () => this.#admit(`job-${index + 1}`, arrival));
    for (const change of changes) this.#at(change.at, () => this.#retune(change));
  }

  run(): Trace {
    for (let step = 0; step < STEPS; step += 1) {
      const next = this.#agenda.shift();
      if (next === undefined) break;
      this.#now = next.at;
      next.act();
      this.#dispatch();
    }
    for (const [job, state] of this.#states) {
      this.#trace.push({ kind: 'sight', sentAt: this.#now + 30, answeredAt: this.#now + 32, job, status: 200, state });
    }
    return this.#trace;
  }

  #at(at: number, act: () => void): void {
    const behind = this.#agenda.findLastIndex((other) => other.at <= at);
    this.#agenda.splice(behind + 1, 0, { at, act });
  }

  #bucket(tenant: string): IdealBucket {
    const bucket = this.#buckets.find((each) => each.tenant === tenant);
    if (bucket === undefined) throw new Error(`no bucket of ${tenant}`);
    return bucket;
  }

  #admit(id: string, arrival: Arrival): void {
    const { tenant, priority, delayMs, cost, sendMs, replyMs } = arrival;
    const bucket = this.#bucket(tenant);
    const times = { sentAt: this.#now - sendMs, answeredAt: this.#now + replyMs };
    const request = { kind: 'admission' as const, type: this.#type, tenant, priority, delayMs, cost, ...times };
    if (bucket.full) {
      const retryAfterMs = Math.ceil(this.#nextPlaceAt(bucket) - this.#now);
      this.#trace.push({ ...request, status: 429, body: { code: 'bucket_full', retryAfterMs } });
      return;
    }
    const releaseAt = delayMs > 0 ? this.#now + delayMs : bucket.promise(priority, this.#now);
    const basis = delayMs > 0 ? 'delay' : bucket.rated ? 'rate' : 'capacity';
    const state = delayMs > 0 ? 'delayed' : 'waiting';
    const body = {
      id,
      state,
      releaseAt: new Date(Math.ceil(WALL_ORIGIN_MS + releaseAt)).toISOString(),
      waitMs: Math.ceil(releaseAt - this.#now),
      basis,
    };
    const dateMs = Math.floor((WALL_ORIGIN_MS + this.#now) / 1000) * 1000;
    this.#trace.push({ ...request, dateMs, status: 202, body });
    this.#states.set(id, state);
    const job = { id, arrival, attempt: 1 };
    if (delayMs === 0) bucket.join(job, this.#now, 'back');
    else {
      bucket.delayed = [...bucket.delayed, job];
      this.#at(this.#now + delayMs, () => {
        if (bucket.drop(id)) bucket.join(job, this.#now, 'back');
      });
    }
    if (arrival.cancelAfterMs !== null)
      this.#at(this.#now + replyMs + arrival.cancelAfterMs, () => this.#cancel(id, bucket));
  }

  #nextPlaceAt(bucket: IdealBucket): number {
    if (bucket.waiting.length > 0) return Math.max(this.#now, bucket.dueAt);
    const firstDue = Math.min(...bucket.delayed.map(({ arrival }) => arrival.at + arrival.delayMs));
    return Math.max(firstDue, bucket.dueAt);
  }

  #cancel(id: string, bucket: IdealBucket): void {
    const gone = bucket.drop(id);
    if (gone) this.#states.set(id, 'cancelled');
    const status = gone ? 200 : this.#states.get(id) === 'active' ? 202 : 409;
    this.#trace.push({ kind: 'cancellation', sentAt: this.#now - 2, answeredAt: this.#now + 2, job: id, status });
  }

  #retune({ tenant, terms }: Retuning): void {
    this.#bucket(tenant).retune(terms, this.#now);
    const times = { sentAt: this.#now - 3, answeredAt: this.#now + 3 };
    this.#trace.push({ kind: 'change', ...times, type: this.#type, tenant, terms });
  }

  #dispatch(): void {
    for (;;) {
      const interval = intervalMs(this.#capacity.ratePerSecond);
      const typeDueAt = this.#typeTat - (this.#capacity.burst - 1) * interval;
      const backlogged = this.#buckets.filter((bucket) => bucket.waiting.length > 0);
      if (backlogged.length === 0 && this.#running === 0) {
        this.#virtualTime = Math.max(this.#virtualTime, ...this.#buckets.map((bucket) => bucket.finish));
      }
      if (backlogged.length === 0 || this.#running >= Math.min(this.#slots, this.#capacity.concurrency)) return;
      if (typeDueAt > this.#now) {
        this.#at(typeDueAt, () => {});
        return;
      }
      const unblocked = backlogged.filter((bucket) => bucket.running < bucket.terms.concurrency);
      const ready = unblocked.filter((bucket) => bucket.dueAt <= this.#now);
      const tag = (bucket: IdealBucket) => Math.max(this.#virtualTime, bucket.finish);
      const [next] = ready.sort((a, b) => tag(a) - tag(b));
      if (next === undefined) {
        const dueAt = Math.min(...unblocked.map((bucket) => bucket.dueAt));
        if (dueAt !== Infinity) this.#at(dueAt, () => {});
        return;
      }
      this.#virtualTime = tag(next);
      const job = next.take(this.#now);
      next.finish = this.#virtualTime + job.arrival.cost / next.terms.weight;
      this.#typeTat = Math.max(this.#typeTat, this.#now - this.#capacity.slackMs) + job.arrival.cost * interval;
      this.#start(next, job);
    }
  }

  #start(bucket: IdealBucket, { id, arrival, attempt }: Waiting): void {
    const { cost, showMs, workMs, failures, tenant } = arrival;
    this.#runs += 1;
    const run = this.#runs;
    this.#running += 1;
    bucket.running += 1;
    this.#states.set(id, 'active');
    const shown = this.#now + showMs;
    this.#trace.push({ kind: 'start', at: shown, run, job: id, type: this.#type, tenant, cost, attempt });
    const fails = attempt <= failures;
    this.#trace.push({ kind: 'end', at: shown + workMs, run, outcome: fails ? 'failed' : 'ok' });
    this.#at(shown + workMs + SETTLE_MS, () => {
      const count = { type: this.#type, tenant: null, running: this.#running };
      this.#trace.push({ kind: 'sample', sentAt: this.#now - 1, answeredAt: this.#now, ...count });
      this.#running -= 1;
      bucket.running -= 1;
      this.#states.set(id, fails ? 'waiting' : 'completed');
      if (fails) bucket.join({ id, arrival, attempt: attempt + 1 }, this.#now, 'front');
    });
  }
}
