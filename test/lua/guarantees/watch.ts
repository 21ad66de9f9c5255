import { type Epoch, excessOverEnvelope, excessOverJobRate, type Start } from '../../model/judges/envelope.js';
import { termsOf } from '../../model/terms-of.js';
import type { Limits, Tenant, Terms } from './steps.js';

/** A guarantee was broken. */
export class Broken extends Error {
  readonly guarantee: string;

  constructor(guarantee: string, what: string) {
    super(`${guarantee}: ${what}`);
    this.guarantee = guarantee;
  }
}

/** A job that was admitted. */
export interface Known {
  readonly id: string;
  readonly tenant: Tenant;
  readonly cost: number;
  readonly priority: number;
  readonly bytes: number;
  /** When it joined what waits: was admitted, or fell due. */
  readonly joinsAtUs: number;
}

/** What BullMQ's own lists hold of one bucket. */
export interface Lists {
  readonly waiting: readonly string[];
  readonly delayed: readonly string[];
  readonly active: readonly string[];
  readonly ended: number;
}

interface Bucket {
  terms: Terms;
  stopped: boolean;
  readonly epochs: Epoch[];
  readonly starts: Start[];
  lists: Lists;
  admitted: number;
  /** The most that one start was, over its weight. */
  greatestShare: number;
  /** By priority, when the last one to start for the first time had joined. */
  readonly lastJoin: Map<number, Known>;
}

const NOTHING: Lists = { waiting: [], delayed: [], active: [], ended: 0 };
/** Costs are sums of doubles. */
const TOLERANCE = 1e-6;
/** The slack of the type, in microseconds. */
export const TYPE_SLACK_US = 25_000;

/**
 * Holds G1, G2, G3, G7 and G8 against what happens step by step. It looks at what BullMQ's lists hold and at what was handed out, and
 * knows nothing of what Headgate keeps beside them. Throws {@link Broken}.
 */
export class Watch {
  readonly jobs = new Map<string, Known>();
  readonly #buckets = new Map<Tenant, Bucket>();
  readonly #started = new Set<string>();
  readonly #spreads = new Map<string, { ahead: number; low: number; high: number; bothReady: boolean }>();
  readonly #typeEpochs: Epoch[] = [];
  readonly #typeStarts: Start[] = [];
  #limits: Limits;

  constructor(terms: ReadonlyMap<Tenant, Terms>, limits: Limits, nowUs: number) {
    for (const [tenant, stated] of terms) {
      const fresh = { starts: [], epochs: [], admitted: 0, greatestShare: 0, lastJoin: new Map<number, Known>() };
      this.#buckets.set(tenant, { terms: stated, stopped: false, lists: NOTHING, ...fresh });
      this.reRate(tenant, stated, nowUs);
    }
    this.#limits = limits;
    this.configure(limits, nowUs);
  }

  termsOf(tenant: Tenant): Terms {
    return this.#bucket(tenant).terms;
  }

  /** A rate of 0 pauses: meanwhile the bucket empties at the rate that it had. */
  reRate(tenant: Tenant, terms: Terms, nowUs: number): void {
    const bucket = this.#bucket(tenant);
    const before = bucket.epochs.at(-1)?.terms;
    const found = termsOf({
      rate: terms.ratePerSecond || (before ? 1e6 / before.pace.emissionUs : 1),
      jobRate: terms.jobRatePerSecond,
      burst: terms.burst,
    });
    bucket.epochs.push({ fromUs: nowUs, terms: found });
    bucket.terms = terms;
  }

  configure(limits: Limits, nowUs: number): void {
    this.#limits = limits;
    const terms = termsOf({ rate: 1e6 / limits.emissionUs, burst: limits.burst, slackUs: TYPE_SLACK_US });
    this.#typeEpochs.push({ fromUs: nowUs, terms });
  }

  pause(tenant: Tenant, stopped: boolean): void {
    this.#bucket(tenant).stopped = stopped;
  }

  admitted(job: Known): void {
    this.jobs.set(job.id, job);
    this.#bucket(job.tenant).admitted += 1;
  }

  /** A job was handed to a worker: G1, and G2 where it is the first time. */
  started(tenant: Tenant, id: string, nowUs: number): void {
    const bucket = this.#bucket(tenant);
    const job = this.jobs.get(id);
    if (!job) throw new Broken('G5', `${id} was never admitted`);
    bucket.starts.push({ atUs: nowUs, cost: job.cost });
    this.#typeStarts.push({ atUs: nowUs, cost: job.cost });
    bucket.greatestShare = Math.max(bucket.greatestShare, job.cost / bucket.terms.weight);
    if (excessOverEnvelope(bucket.starts, bucket.epochs) > 0) throw new Broken('G1', `${tenant} exceeds its rate`);
    if (excessOverJobRate(bucket.starts, bucket.epochs) > 0) throw new Broken('G1', `${tenant} exceeds its jobRate`);
    if (excessOverEnvelope(this.#typeStarts, this.#typeEpochs) > 0) throw new Broken('G1', 'the type exceeds its rate');
    if (!this.#started.has(id)) this.#judgeOrder(bucket, job);
    this.#started.add(id);
    if (tenant.startsWith('open')) this.#advance(tenant, job.cost / bucket.terms.weight);
  }

  /** What the lists hold after a step, that started so many jobs of each tenant: G3, G5, G7 and G8. */
  stepped(
    lists: ReadonlyMap<Tenant, Lists>,
    step: { readonly admitted: boolean; readonly startedBy: readonly Tenant[] },
  ) {
    const before = this.#running();
    for (const [tenant, now] of lists) {
      const bucket = this.#bucket(tenant);
      this.#judgeCap(tenant, bucket, now, step.startedBy.includes(tenant));
      if (step.admitted && now.waiting.length + now.delayed.length > held(bucket.lists))
        this.#judgeDepth(tenant, bucket, now);
      const all = held(now) + now.active.length + now.ended;
      if (all !== bucket.admitted) throw new Broken('G5', `${tenant} has ${all} jobs of ${bucket.admitted}`);
      bucket.lists = now;
    }
    const running = this.#running();
    if (running > (step.startedBy.length > 0 ? this.#limits.concurrency : Math.max(before, this.#limits.concurrency))) {
      throw new Broken('G7', `${running} jobs of the type run`);
    }
    this.#judgeShares();
  }

  #bucket(tenant: Tenant): Bucket {
    const found = this.#buckets.get(tenant);
    if (!found) throw new Error(`no bucket ${tenant}`);
    return found;
  }

  #running(): number {
    return [...this.#buckets.values()].reduce((sum, { lists }) => sum + lists.active.length, 0);
  }

  #judgeOrder(bucket: Bucket, job: Known): void {
    const last = bucket.lastJoin.get(job.priority);
    if (last && job.joinsAtUs < last.joinsAtUs) throw new Broken('G2', `${last.id} started before ${job.id}`);
    bucket.lastJoin.set(job.priority, job);
  }

  #judgeCap(tenant: Tenant, { terms, lists }: Bucket, now: Lists, started: boolean): void {
    const most = started ? terms.concurrency : Math.max(terms.concurrency, lists.active.length);
    if (now.active.length > most) throw new Broken('G7', `${now.active.length} jobs of ${tenant} run`);
  }

  #judgeDepth(tenant: Tenant, { terms }: Bucket, now: Lists): void {
    if (held(now) > terms.depth) throw new Broken('G8', `${tenant} holds ${held(now)} jobs`);
    const bytes = [...now.waiting, ...now.delayed].reduce((sum, id) => sum + (this.jobs.get(id)?.bytes ?? 0), 0);
    if (bytes > terms.maxBytes) throw new Broken('G8', `${tenant} holds ${bytes} bytes`);
  }

  /** A tenant without a rate is ready while something of it waits that neither a pause nor its cap holds back. */
  #isReady(tenant: Tenant): boolean {
    const { terms, stopped, lists } = this.#bucket(tenant);
    return lists.waiting.length > 0 && !stopped && terms.ratePerSecond > 0 && lists.active.length < terms.concurrency;
  }

  #pairs(): (readonly [Tenant, Tenant])[] {
    const open = [...this.#buckets.keys()].filter((tenant) => tenant.startsWith('open'));
    return open.flatMap((one, i) => open.slice(i + 1).map((other) => [one, other] as const));
  }

  #spread(one: Tenant, other: Tenant) {
    const name = `${one} ${other}`;
    const known = this.#spreads.get(name) ?? { ahead: 0, low: 0, high: 0, bothReady: false };
    this.#spreads.set(name, known);
    return known;
  }

  #advance(tenant: Tenant, share: number): void {
    for (const [one, other] of this.#pairs()) {
      if (tenant !== one && tenant !== other) continue;
      const spread = this.#spread(one, other);
      spread.ahead += tenant === one ? share : -share;
      spread.low = Math.min(spread.low, spread.ahead);
      spread.high = Math.max(spread.high, spread.ahead);
    }
  }

  #judgeShares(): void {
    for (const [one, other] of this.#pairs()) {
      const spread = this.#spread(one, other);
      const bound = this.#bucket(one).greatestShare + this.#bucket(other).greatestShare + TOLERANCE;
      if (spread.bothReady && spread.high - spread.low > bound) throw new Broken('G3', `${one} and ${other}`);
      const ready = this.#isReady(one) && this.#isReady(other);
      if (!spread.bothReady || !ready) [spread.low, spread.high] = [spread.ahead, spread.ahead];
      spread.bothReady = ready;
    }
  }
}

function held({ waiting, delayed }: Lists): number {
  return waiting.length + delayed.length;
}
