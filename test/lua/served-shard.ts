import type { Profile } from '../../src/model/profile.js';
import type { AdmitVerdict, Dispatched } from '../../src/shaping/scripts.js';
import type { Capacity, ScriptShard } from './script-shard.js';

/** A job that comes at `atUs` from the beginning and runs for `serviceUs`. */
export interface Coming {
  readonly atUs: number;
  readonly tenant: string;
  readonly serviceUs: number;
  readonly cost?: number;
  readonly priority?: number;
}

/** A job that was let in. Instants from the beginning. */
export interface ServedJob {
  readonly id: string;
  readonly tenant: string;
  readonly cost: number;
  readonly admittedAtUs: number;
  readonly serviceUs: number;
  readonly verdict: AdmitVerdict & { readonly kind: 'admitted' };
  startedAtUs: number | undefined;
}

export interface ServedWorkload {
  readonly slots: number;
  readonly capacity?: Capacity;
  readonly profile: (tenant: string) => Partial<Profile>;
  /** In the order in which they come. */
  readonly jobs: readonly Coming[];
}

interface Run {
  readonly endsAtUs: number;
  readonly token: string;
  readonly tenant: string;
  readonly id: string;
}

/**
 * Lives through a workload on the real scripts, by their explicit clock: workers that are always awake take what a free
 * slot is handed, run it for its time and settle it. Answers the jobs that were let in, in the order in which they came.
 */
export async function serve(shard: ScriptShard, workload: ServedWorkload): Promise<readonly ServedJob[]> {
  const serving = new Serving(shard, workload);
  await serving.live();
  return [...serving.jobs.values()];
}

class Serving {
  readonly jobs = new Map<string, ServedJob>();
  readonly #shard: ScriptShard;
  readonly #workload: ServedWorkload;
  readonly #beginUs: number;
  #runs: Run[] = [];
  #tokens = 0;
  #lookAtUs = Infinity;

  constructor(shard: ScriptShard, workload: ServedWorkload) {
    this.#shard = shard;
    this.#workload = workload;
    this.#beginUs = shard.nowUs;
  }

  get #nowUs(): number {
    return this.#shard.nowUs - this.#beginUs;
  }

  async live(): Promise<void> {
    const { capacity, jobs } = this.#workload;
    if (capacity) await this.#shard.configure(capacity);
    const coming = [...jobs].reverse();
    for (;;) {
      const arrivesAtUs = coming.at(-1)?.atUs ?? Infinity;
      const endsAtUs = this.#runs[0]?.endsAtUs ?? Infinity;
      const atUs = Math.min(arrivesAtUs, endsAtUs, this.#lookAtUs);
      if (atUs === Infinity) return;
      this.#shard.nowUs = this.#beginUs + Math.max(this.#nowUs, atUs);
      if (atUs === endsAtUs) await this.#end();
      else if (atUs === arrivesAtUs) await this.#admit(coming.pop());
      await this.#look();
    }
  }

  async #admit(job: Coming | undefined): Promise<void> {
    if (!job) return;
    const { tenant, serviceUs, cost = 1, priority = 4 } = job;
    const id = `j${String(this.jobs.size).padStart(6, '0')}`;
    const { first } = await this.#shard.admit(tenant, [{ id, cost, priority }], this.#workload.profile(tenant));
    if (first?.kind !== 'admitted') return;
    const admitted = { id, tenant, cost, serviceUs, verdict: first, admittedAtUs: this.#nowUs };
    this.jobs.set(id, { ...admitted, startedAtUs: undefined });
  }

  async #end(): Promise<void> {
    const run = this.#runs.shift();
    if (!run) return;
    const next = this.#newToken();
    const settled = await this.#shard.settle(run, { kind: 'completed', value: '1' }, next);
    this.#begin(next, settled.next);
  }

  /** All free slots ask, until nothing may start. */
  async #look(): Promise<void> {
    this.#lookAtUs = Infinity;
    while (this.#runs.length < this.#workload.slots) {
      const token = this.#newToken();
      const found = await this.#shard.dispatch(token);
      this.#begin(token, found);
      if (found.kind === 'nothing') return;
    }
  }

  #begin(token: string, found: Dispatched): void {
    if (found.kind === 'nothing') {
      this.#lookAtUs = found.waitUs === null ? Infinity : this.#nowUs + found.waitUs;
      return;
    }
    const job = this.jobs.get(found.id);
    if (!job) throw new Error(`nobody let in ${found.id}`);
    job.startedAtUs = this.#nowUs;
    this.#runs.push({ endsAtUs: this.#nowUs + job.serviceUs, token, tenant: job.tenant, id: job.id });
    this.#runs.sort((one, other) => one.endsAtUs - other.endsAtUs);
  }

  #newToken(): string {
    this.#tokens += 1;
    return `t${this.#tokens}`;
  }
}
