import type { Profile } from '../../../src/model/profile.js';
import type { Dispatched } from '../../../src/shaping/scripts.js';
import type { Capacity, ScriptShard } from '../../lua/script-shard.js';

/** One job as it comes to the door. `priority` is the API's: 0 first, 9 last, default 4. */
export interface ServiceJob {
  readonly cost?: number;
  readonly priority?: number;
  readonly delayMs?: number;
}

/** Jobs of one tenant that come in one call. */
export interface ServiceArrival {
  /** From the beginning. */
  readonly atUs: number;
  readonly tenant: string;
  readonly jobs: readonly ServiceJob[];
}

/** What is to be lived through. */
export interface Service {
  readonly profiles: Readonly<Record<string, Partial<Profile>>>;
  /** In the order of their instants. */
  readonly arrivals: Iterable<ServiceArrival>;
  readonly capacity?: Capacity;
  /** Jobs that all workers together can run at once. */
  readonly slots: number;
  /** How long a job runs, in whole microseconds; asked once, as it starts. */
  readonly serviceUs: (job: { readonly tenant: string; readonly cost: number }) => number;
  /** Nothing is looked at that comes later. Default: to the end, when nothing waits any more. */
  readonly untilUs?: number;
}

/** What became of one job. Instants from the beginning; `undefined`: not yet. */
export interface ServedJob {
  readonly id: string;
  readonly tenant: string;
  readonly cost: number;
  readonly arrivedAtUs: number;
  readonly verdict: 'admitted' | 'refused';
  /** What the door promised; the arrival for a job that it refused. */
  readonly promisedAtUs: number;
  readonly basis: 'rate' | 'capacity' | 'delay' | undefined;
  startedAtUs: number | undefined;
  endedAtUs: number | undefined;
}

/**
 * Lives through `service` on the real scripts, with workers that are never late and a clock that jumps from one event to
 * the next: no time passes but the simulated one, so the same service always comes to the same, on any machine.
 *
 * @returns every job, in the order in which they came
 */
export async function simulateService(shard: ScriptShard, service: Service): Promise<readonly ServedJob[]> {
  const simulation = new Simulation(shard, service);
  await simulation.live();
  return [...simulation.jobs.values()];
}

interface Run {
  readonly token: string;
  readonly tenant: string;
  readonly job: ServedJob;
  readonly endsAtUs: number;
}

const COMPLETED = { kind: 'completed', value: '1' } as const;

class Simulation {
  readonly jobs = new Map<string, ServedJob>();
  readonly #shard: ScriptShard;
  readonly #service: Service;
  readonly #beginUs: number;
  /** By when they end, latest first. */
  readonly #runs: Run[] = [];
  #looksAtUs = Infinity;
  #tokens = 0;

  constructor(shard: ScriptShard, service: Service) {
    this.#shard = shard;
    this.#service = service;
    this.#beginUs = shard.nowUs;
  }

  async live(): Promise<void> {
    const { arrivals, capacity, untilUs = Infinity } = this.#service;
    if (capacity) await this.#shard.configure(capacity);
    const coming = arrivals[Symbol.iterator]();
    for (let next = coming.next(); ; ) {
      const arrivesAtUs = next.done === true ? Infinity : next.value.atUs;
      const endsAtUs = this.#runs.at(-1)?.endsAtUs ?? Infinity;
      const nowUs = Math.min(arrivesAtUs, endsAtUs, this.#looksAtUs);
      if (nowUs === Infinity || nowUs > untilUs) return;
      this.#shard.nowUs = this.#beginUs + nowUs;
      if (endsAtUs === nowUs) await this.#endOne();
      else if (next.done !== true && arrivesAtUs === nowUs) {
        await this.#admit(next.value);
        next = coming.next();
      }
      await this.#fillSlots();
    }
  }

  get #nowUs(): number {
    return this.#shard.nowUs - this.#beginUs;
  }

  async #admit({ tenant, jobs }: ServiceArrival): Promise<void> {
    const profile = this.#service.profiles[tenant];
    if (profile === undefined) throw new Error(`no profile of ${tenant}`);
    const specs = jobs.map((job, i) => ({ ...job, id: String(this.jobs.size + i).padStart(9, '0') }));
    const { verdicts } = await this.#shard.admit(tenant, specs, profile);
    for (const [i, { id, cost = 1 }] of specs.entries()) {
      const verdict = verdicts[i];
      const isIn = verdict?.kind === 'admitted';
      this.jobs.set(id, {
        id,
        tenant,
        cost,
        arrivedAtUs: this.#nowUs,
        verdict: isIn ? 'admitted' : 'refused',
        promisedAtUs: this.#nowUs + (isIn ? verdict.waitUs : 0),
        basis: isIn ? verdict.basis : undefined,
        startedAtUs: undefined,
        endedAtUs: undefined,
      });
    }
  }

  async #endOne(): Promise<void> {
    const run = this.#runs.pop();
    if (!run) return;
    run.job.endedAtUs = this.#nowUs;
    const token = this.#newToken();
    const { next } = await this.#shard.settle({ ...run, id: run.job.id }, COMPLETED, token);
    this.#heed(token, next);
  }

  async #fillSlots(): Promise<void> {
    for (let more = true; more && this.#runs.length < this.#service.slots; ) {
      const token = this.#newToken();
      more = this.#heed(token, await this.#shard.dispatch(token));
    }
  }

  /** True when it was handed a job. The last word on when to look again counts: it knows all that came before. */
  #heed(token: string, found: Dispatched): boolean {
    if (found.kind === 'nothing') {
      this.#looksAtUs = found.waitUs === null ? Infinity : this.#nowUs + found.waitUs;
      return false;
    }
    const job = this.jobs.get(found.id);
    if (!job) throw new Error(`no job ${found.id}`);
    job.startedAtUs = this.#nowUs;
    const endsAtUs = this.#nowUs + this.#service.serviceUs(job);
    const later = this.#runs.findLastIndex((run) => run.endsAtUs > endsAtUs);
    this.#runs.splice(later + 1, 0, { token, tenant: found.tenant, job, endsAtUs });
    // Slots that are all taken look when one is free.
    if (this.#runs.length === this.#service.slots) this.#looksAtUs = Infinity;
    return true;
  }

  #newToken(): string {
    this.#tokens += 1;
    return `worker-${this.#tokens}`;
  }
}
