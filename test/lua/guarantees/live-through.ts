import type { ScriptShard } from '../script-shard.js';
import { shotsOfLists } from './lists.js';
import { type Limits, type Step, TENANTS, type Tenant, type Terms } from './steps.js';
import { TYPE_SLACK_US, Watch } from './watch.js';

interface Run {
  readonly token: string;
  readonly tenant: Tenant;
  readonly id: string;
}

/** How often a job may be taken back from a worker that died before it fails. */
const MAX_STALLED = 2;

/**
 * Carries out steps on the real scripts, under a {@link Watch}.
 *
 * @returns how many jobs were started
 * @throws Broken
 */
export async function liveThrough(
  shard: ScriptShard,
  begin: { readonly terms: ReadonlyMap<Tenant, Terms>; readonly limits: Limits },
  steps: readonly Step[],
): Promise<number> {
  await shard.configure({ ...begin.limits, slackUs: TYPE_SLACK_US });
  const watch = new Watch(begin.terms, begin.limits, shard.nowUs);
  const life = new Life(shard, watch);
  for (const step of steps) {
    const startedBefore = life.startedBy.length;
    await life.take(step);
    const startedBy = life.startedBy.slice(startedBefore);
    watch.stepped(await shotsOfLists(shard, TENANTS), { admitted: step.what === 'admit', startedBy });
  }
  return life.startedBy.length;
}

class Life {
  readonly startedBy: Tenant[] = [];
  readonly #shard: ScriptShard;
  readonly #watch: Watch;
  #runs: Run[] = [];
  #numbers = 0;

  constructor(shard: ScriptShard, watch: Watch) {
    this.#shard = shard;
    this.#watch = watch;
  }

  async take(step: Step): Promise<void> {
    const shard = this.#shard;
    switch (step.what) {
      case 'pass':
        shard.nowUs += step.us;
        return;
      case 'admit':
        return this.#admit(step.tenant, step.jobs);
      case 'dispatch': {
        const token = this.#newName('worker');
        return this.#note(token, await shard.dispatch(token));
      }
      case 'settle': {
        const run = step.pick === 'newest' ? this.#runs.at(-1) : this.#runs[step.pick % this.#runs.length];
        if (!run) return;
        const token = this.#newName('worker');
        this.#runs = this.#runs.filter((other) => other !== run);
        const { next } = await shard.settle(run, step.outcome, step.next ? token : '');
        return this.#note(token, next);
      }
      case 'cancel': {
        const jobs = [...this.#watch.jobs.values()];
        const job = jobs[step.pick % jobs.length];
        if (job) await shard.cancel(job.tenant, job.id);
        return;
      }
      case 're-rate':
        await shard.retime(step.tenant, step.terms);
        return this.#watch.reRate(step.tenant, step.terms, shard.nowUs);
      case 'configure':
        await shard.configure({ ...step.limits, slackUs: TYPE_SLACK_US });
        return this.#watch.configure(step.limits, shard.nowUs);
      case 'pause':
        await shard.pause(step.tenant, step.stopped);
        return this.#watch.pause(step.tenant, step.stopped);
      case 'crash': {
        const dead = this.#runs.filter((_, i) => (step.mask >> (i % 8)) & 1);
        for (const { tenant, id } of dead) await shard.dropLock(tenant, id);
        this.#runs = this.#runs.filter((run) => !dead.includes(run));
        await shard.recover(MAX_STALLED);
      }
    }
  }

  async #admit(tenant: Tenant, jobs: (Step & { what: 'admit' })['jobs']): Promise<void> {
    const shard = this.#shard;
    const specs = jobs.map((job) => ({ ...job, id: this.#newName('job'), data: 'x'.repeat(job.bytes) }));
    const { verdicts } = await shard.admit(tenant, specs, this.#watch.termsOf(tenant));
    for (const [i, { id, cost, priority, delayMs, bytes }] of specs.entries()) {
      if (verdicts[i]?.kind !== 'admitted') continue;
      // A delay counts from a whole millisecond, the next one.
      const joinsAtUs = delayMs > 0 ? (Math.ceil(shard.nowUs / 1000) + delayMs) * 1000 : shard.nowUs;
      this.#watch.admitted({ id, tenant, cost, priority, bytes, joinsAtUs });
    }
  }

  #note(token: string, found: { readonly kind: string; readonly tenant?: string; readonly id?: string }): void {
    const tenant = TENANTS.find((name) => name === found.tenant);
    if (tenant === undefined || found.id === undefined) return;
    this.#runs.push({ token, tenant, id: found.id });
    this.startedBy.push(tenant);
    this.#watch.started(tenant, found.id, this.#shard.nowUs);
  }

  #newName(what: string): string {
    this.#numbers += 1;
    return `${what}-${String(this.#numbers).padStart(6, '0')}`;
  }
}
