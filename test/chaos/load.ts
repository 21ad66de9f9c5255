import { setTimeout as pause } from 'node:timers/promises';
import { textField } from '../referee/json-field.js';
import type { Enqueued, Witness } from '../referee/witness.js';
import type { Ledger } from './ledger.js';
import type { Random } from './random.js';
import { POLICED, SHAPED, TENANTS } from './terms.js';

/** Requests under way at once, at most: an API that stands still must not pile up thousands. */
const MAX_UNDER_WAY = 60;
const EVERY_MS = 35;
/** How often a request under an idempotency key is sent again until it has an answer. */
const MAX_REPEATS = 100;

export interface LoadParts {
  /** One for each API. */
  readonly witnesses: readonly Witness[];
  readonly ledger: Ledger;
  readonly random: Random;
  readonly now: () => number;
}

/** A steady mixed load: shaped and policed jobs, delays, deadlines, retries, cancels, batches, looks and idempotency keys. */
export class Load {
  readonly #parts: LoadParts;
  readonly #underWay = new Set<Promise<unknown>>();
  #running = false;
  #done: Promise<void> = Promise.resolve();
  #keys = 0;

  constructor(parts: LoadParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#running = true;
    this.#done = this.#go();
  }

  /** Sends nothing more; resolves when all answers are there. */
  async stop(): Promise<void> {
    this.#running = false;
    await this.#done;
    await Promise.all(this.#underWay);
  }

  async #go(): Promise<void> {
    while (this.#running) {
      if (this.#underWay.size < MAX_UNDER_WAY) {
        const act = this.#act().finally(() => this.#underWay.delete(act));
        this.#underWay.add(act);
      }
      await pause(EVERY_MS);
    }
  }

  #act(): Promise<unknown> {
    const { random } = this.#parts;
    const draw = random.next();
    if (draw < 0.5) return this.#post(this.#job());
    if (draw < 0.6) return this.#post({ ...this.#job(), delayMs: random.whole(200, 4000) });
    if (draw < 0.68) {
      // A request may be on its way for seconds where the machine is busy, and a deadline that is past is refused.
      const startBy = new Date(Date.now() + random.whole(4000, 9000)).toISOString();
      return this.#post({ ...this.#job(), startBy });
    }
    if (draw < 0.76) return this.#post(this.#job({ fail: random.pick([1, 1, 2, true]) }));
    if (draw < 0.86) return this.#postOnce(this.#job());
    if (draw < 0.9) return this.#batch();
    const jobs = [...this.#parts.ledger.accepted.values()].slice(-200);
    if (jobs.length === 0) return Promise.resolve();
    const { id, tenant } = random.pick(jobs);
    return draw < 0.94 ? this.#witness().cancel(tenant, id) : this.#witness().look(tenant, id);
  }

  #job(extra: object = {}): Enqueued {
    const { random } = this.#parts;
    return {
      type: random.next() < 0.8 ? SHAPED : POLICED,
      // One of them sends far more than its rate, and is refused.
      tenant: random.next() < 0.35 ? TENANTS[0] : random.pick(TENANTS),
      cost: 1,
      priority: random.pick([4, 4, 4, 0, 9]),
      data: { workMs: random.pick([10, 30, 120, 400, 1500]), ...extra },
    };
  }

  #witness(): Witness {
    return this.#parts.random.pick(this.#parts.witnesses);
  }

  async #post(job: Enqueued): Promise<number> {
    const { ledger, now } = this.#parts;
    const sentAt = now();
    const { status, body } = await this.#witness().enqueue(job);
    this.#book(job, status, body, sentAt);
    if (
      status === 503 &&
      textField(body, 'code') !== 'redis_unavailable' &&
      textField(body, 'code') !== 'memory_full'
    ) {
      ledger.faults.push(`a 503 of another kind: ${textField(body, 'code')}`);
    }
    return status;
  }

  /** Under a key: sent until there is an answer, and once more, which must name the same job. */
  async #postOnce(job: Enqueued): Promise<void> {
    this.#keys += 1;
    const keyed = { ...job, idempotencyKey: `key-${this.#keys}` };
    for (let sent = 0; sent < MAX_REPEATS; sent += 1) {
      const status = await this.#post(keyed);
      if (status === 202 && sent > 0) return;
      if (status === 202) continue;
      if (status !== 0 && status !== 503) return;
      await pause(200);
    }
  }

  async #batch(): Promise<void> {
    const { now } = this.#parts;
    const { tenant } = this.#job();
    const jobs = Array.from({ length: 5 }, () => this.#job()).map((job) => ({ ...job, tenant }));
    const sentAt = now();
    const answers = await this.#witness().enqueueBatch(tenant, jobs);
    for (const [index, job] of jobs.entries()) {
      const answer = answers[index];
      if (answer !== undefined) this.#book(job, answer.status, answer.body, sentAt);
    }
  }

  #book(job: Enqueued, status: number, body: unknown, sentAt: number): void {
    const { ledger, now } = this.#parts;
    const id = textField(body, 'id');
    const { type, tenant, idempotencyKey: key } = job;
    const acceptedAt = now();
    const accepted = status === 202 && id !== undefined ? { id, type, tenant, sentAt, acceptedAt } : undefined;
    ledger.answered({ status, tookMs: acceptedAt - sentAt, job: accepted, key, code: textField(body, 'code') });
  }
}
