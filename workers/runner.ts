import { EventEmitter } from 'node:events';
import { isPassing } from '../src/redis/outage.js';
import { type DispatchedJob, type EndedRun, type RunJob, runJobOf, termsOf, waitOf } from '../src/shaping/run-job.js';
import { type Slip, slipOf } from '../src/shaping/slip.js';
import type { TypeSource } from '../src/shaping/type-source.js';
import type { Held, Outcome } from '../src/shaping/work-source.js';
import { Charges } from './charges.js';
import type { HandlerLog } from './handler.js';
import { Output } from './output.js';
import { throughPassingErrors } from './passing.js';
import { Run, type RunPlan } from './run.js';

interface RunnerEvents {
  /** `slip`: how its promised start was kept, of its first one. */
  active: [job: RunJob, slip: Slip | undefined];
  /** A free slot got a job, so many milliseconds after it knew that something may start. */
  taken: [lagMs: number];
  ended: [run: EndedRun];
  error: [error: unknown];
  /** The last job under way here has ended. */
  idle: [];
}

/** For a job that was dispatched while this worker was told to stop: it never began. */
const HANDED_BACK: Outcome = { kind: 'return', value: 'the worker was shutting down' };

/** However quiet it is, a runner asks again after this long: a wake-up may get lost. */
const FALLBACK_MS = 5000;

/** How often a lock is renewed within its time. */
export const RENEWALS_PER_LOCK = 3;

/**
 * The slots of one type in one process. States: idle (waiting for a wake-up, the next due bucket or the fallback),
 * fetching (until all slots are taken or nothing may start), stopping (nothing is taken).
 *
 * Invariants: a look begins with one dispatch; over several shards each job that it finds lets one more be under way, where
 * something else may be ready, so at most one more than it found jobs, and no more than slots are free; over one shard it
 * is one at a time. `free + running = slots`; a slot that settles a job asks for the next one in the same script, so a busy
 * system needs no wake-ups at all. A crash leaves what ran to the recoverer of any worker.
 */
export class Runner extends EventEmitter<RunnerEvents> {
  readonly source: TypeSource;
  readonly #plan: RunPlan;
  readonly #logFor: (job: RunJob) => HandlerLog;
  /** Jobs that may be under way here at once. */
  readonly slots: number;
  readonly #running = new Map<string, { run: Run; held: Held }>();
  readonly #leave = new AbortController();
  #stopping = false;
  #fetching: Promise<void> | undefined;
  #fetchAgain = false;
  /** Dispatches of the look under way. */
  #asked = 0;
  #timer: NodeJS.Timeout | undefined;
  #timerAt = Infinity;
  #heardAt = performance.now();
  /** Since when something may be there to start; `undefined` while nothing is known of. */
  #knownAt: number | undefined;

  constructor(source: TypeSource, slots: number, plan: RunPlan, logFor: (job: RunJob) => HandlerLog) {
    super();
    this.source = source;
    this.slots = slots;
    this.#plan = plan;
    this.#logFor = logFor;
  }

  /** Jobs under way here. */
  get running(): number {
    return this.#running.size;
  }

  /** The jobs here, each under the token with which it was dispatched. */
  get held(): Held[] {
    return [...this.#running.values()].map(({ held }) => held);
  }

  /** For how long, in milliseconds, Redis has said nothing of jobs though a slot is free; 0 while none is. */
  get silentMs(): number {
    return this.#stopping || this.#running.size >= this.slots ? 0 : performance.now() - this.#heardAt;
  }

  /**
   * Something may be ready: look now, or as soon as the look under way is over. `knownAt` is the local instant since which
   * that was known.
   */
  wake(knownAt = performance.now()): void {
    if (this.#stopping) return;
    this.#knownAt ??= knownAt;
    if (this.#fetching) this.#fetchAgain = true;
    else this.#fetching = this.#fetch();
  }

  /** Asks the run of job `id` to stop, if it is here. */
  cancel(id: string): void {
    for (const { run, held } of this.#running.values()) if (held.id === id) run.stop('cancelled');
  }

  /** The lock of this run is gone: its result will not count. */
  lose(token: string): void {
    this.#running.get(token)?.run.stop('lock lost');
  }

  /**
   * Takes nothing more and resolves when what runs has ended. What still runs after `graceMs` is asked to stop and goes
   * back to the front of its bucket without using an attempt.
   */
  async stop(graceMs: number): Promise<void> {
    this.#stopping = true;
    clearTimeout(this.#timer);
    const askAll = setTimeout(() => {
      for (const { run } of this.#running.values()) run.stop('shutdown');
    }, graceMs);
    // Redis may never answer: what could not be brought back by then is left to the recoverer.
    const leave = setTimeout(() => this.#leave.abort(), graceMs + 2 * this.#plan.abandonAfterMs);
    await this.#fetching;
    // Not events.once: that gives up at an 'error', of which an outage brings some.
    if (this.#running.size > 0) await new Promise<void>((resolve) => this.once('idle', resolve));
    clearTimeout(askAll);
    clearTimeout(leave);
  }

  /** Gives back what the handler opened. Nothing may be under way. */
  close(): Promise<void> {
    return this.#plan.performer.close();
  }

  async #fetch(): Promise<void> {
    do {
      this.#fetchAgain = false;
      await this.#fill();
    } while (this.#fetchAgain && !this.#stopping);
    this.#fetching = undefined;
  }

  /** Takes jobs until all slots are taken or nothing may start. */
  async #fill(): Promise<void> {
    const beside: Promise<void>[] = [];
    try {
      while (this.#hasSlotToFill && (await this.#takeOne())) {
        // Over several shards a fetch may take several commands, one after the other.
        if (this.#hasSlotToFill && this.source.mayHaveMore) beside.push(this.#fill());
      }
    } catch (error) {
      if (!this.#stopping) this.emit('error', error);
      this.#waitFor(FALLBACK_MS * 1000);
    }
    await Promise.all(beside);
  }

  get #hasSlotToFill(): boolean {
    return !this.#stopping && this.#running.size + this.#asked < this.slots;
  }

  /** Whether there was a job for a free slot. */
  async #takeOne(): Promise<boolean> {
    const token = this.source.newToken();
    const askedAt = performance.now();
    this.#asked += 1;
    try {
      const found = await throughPassingErrors(() => this.source.dispatch(token), this.#leave.signal);
      this.#heardAt = performance.now();
      const knownAt = this.#knownAt;
      this.#knownAt = undefined;
      if (found.kind === 'job' && knownAt !== undefined) this.emit('taken', this.#heardAt - knownAt);
      if (found.kind === 'job') void this.#work(token, found, askedAt);
      else this.#waitFor(found.waitUs);
      return found.kind === 'job';
    } finally {
      this.#asked -= 1;
    }
  }

  #waitFor(waitUs: number | null): void {
    if (this.#stopping) return;
    // A timer of Node may fire up to a millisecond early, and an early look finds nothing.
    const waitMs = waitUs === null ? FALLBACK_MS : Math.min(FALLBACK_MS, Math.ceil(waitUs / 1000));
    const at = performance.now() + waitMs;
    if (at >= this.#timerAt) return;
    clearTimeout(this.#timer);
    this.#timerAt = at;
    this.#timer = setTimeout(() => {
      this.#timerAt = Infinity;
      this.wake(at);
    }, waitMs);
  }

  /** Keeps one slot busy: runs a job, settles it, goes on with what the settle handed out. */
  async #work(firstToken: string, first: DispatchedJob, firstAskedAt: number): Promise<void> {
    let token = firstToken;
    let askedAt = firstAskedAt;
    for (let job: DispatchedJob | undefined = first; job; ) {
      const held: Held = { token, tenant: job.tenant, id: job.id };
      const run = new Run(
        runJobOf(this.source.type, job),
        job.fields.get('data') ?? '',
        this.#plan,
        termsOf(job.fields),
      );
      this.#running.set(token, { run, held });
      if (this.#isLate(askedAt) && !(await this.#isStillHeld(held, askedAt))) {
        this.#running.delete(token);
        this.wake();
        break;
      }
      const startedAt = performance.now();
      const outcome = this.#stopping ? HANDED_BACK : await this.#run(run, held, slipOf(job.fields));
      const runMs = performance.now() - startedAt;
      token = this.source.newToken();
      askedAt = performance.now();
      const settled = await this.#settle(held, outcome, token);
      if (settled.verdict === 'settled') this.#heardAt = performance.now();
      this.#running.delete(held.token);
      const told = job.fields.has('hg:u');
      this.emit('ended', { job: run.job, outcome, verdict: settled.verdict, waitMs: waitOf(job.fields), runMs, told });
      job = settled.next.kind === 'job' ? settled.next : undefined;
      if (!job && settled.next.kind === 'nothing') this.#waitFor(settled.next.waitUs);
    }
    if (this.#running.size === 0) this.emit('idle');
  }

  #isLate(heldAt: number): boolean {
    return performance.now() - heldAt > this.source.lockMs / RENEWALS_PER_LOCK;
  }

  /**
   * Whether a job that was asked for at `askedAt` is this worker's still: where the answer was long on its way, or this
   * process stood still, another one may run it by now. Then its lock is renewed before anything begins.
   */
  async #isStillHeld(held: Held, askedAt: number): Promise<boolean> {
    let heldAt = askedAt;
    while (this.#isLate(heldAt)) {
      heldAt = performance.now();
      try {
        const renewed = await throughPassingErrors(() => this.source.renew([held]), this.#leave.signal);
        if (renewed.lostTokens.includes(held.token)) return false;
      } catch (error) {
        this.emit('error', error);
        return false;
      }
    }
    return true;
  }

  /** What the run came to, once all that its handler emitted and said of its cost has arrived. */
  async #run(run: Run, held: Held, slip: Slip | undefined): Promise<Outcome> {
    this.emit('active', run.job, slip);
    const charges = new Charges((cost) => this.#charge(held, cost));
    const output = new Output((first, chunks) => this.#emit(held, first, chunks));
    const outcome = await run.outcome({
      log: this.#logFor(run.job),
      progress: (value) => this.#progress(held, value),
      emit: (chunk) => output.emit(chunk),
      charge: (cost) => charges.charge(cost),
    });
    await Promise.all([charges.done(), output.done()]);
    return outcome;
  }

  /** However long Redis is away: no run ends before its cost is known. One whose lock is lost has no cost any more. */
  async #charge(held: Held, cost: number): Promise<void> {
    try {
      await throughPassingErrors(() => this.source.charge(held, cost), this.#leave.signal);
    } catch (error) {
      this.emit('error', error);
      throw error;
    }
  }

  /** However long Redis is away: no run ends before its output is stored. */
  async #emit(held: Held, first: number, chunks: readonly string[]): Promise<void> {
    try {
      await throughPassingErrors(() => this.source.emit(held, first, chunks), this.#leave.signal);
    } catch (error) {
      this.emit('error', error);
      throw error;
    }
  }

  async #settle(held: Held, outcome: Outcome, nextToken: string) {
    // Decided once: a repetition asks for the job that the first attempt may have taken, or nobody would know of it.
    const next = this.#stopping ? undefined : nextToken;
    try {
      return await throughPassingErrors(() => this.source.settle(held, outcome, next), this.#leave.signal);
    } catch (error) {
      this.emit('error', error);
      return { verdict: 'lost', next: { kind: 'nothing', waitUs: 0 } } as const;
    }
  }

  /** Redis being away is no fault of the job's: readers see the next value. */
  async #progress(held: Held, value: unknown): Promise<void> {
    try {
      await this.source.progress(held, JSON.stringify(value ?? null));
    } catch (error) {
      if (!isPassing(error)) throw error;
    }
  }
}
