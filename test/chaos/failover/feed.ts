import { setTimeout as pause } from 'node:timers/promises';
import { textField } from '../../referee/json-field.js';
import type { Enqueued, Witness } from '../../referee/witness.js';
import type { Ledger } from '../ledger.js';
import type { Random } from '../random.js';
import { TENANTS, TYPES } from './terms.js';

const TOGETHER = 10;
/** How often a request under an idempotency key is sent again until it has an answer. */
const MAX_REPEATS = 200;
/** Where a bucket is full, and where nobody answers. */
const FULL_MS = 500;
const AWAY_MS = 200;
/** Between the requests of one tenant: some 480 jobs a second in all, so that a machine of two cores has more than the feed to do. */
const GAP_MS = 250;

export interface FeedParts {
  /** One for each API. */
  readonly witnesses: readonly Witness[];
  readonly ledger: Ledger;
  readonly random: Random;
  readonly now: () => number;
  /** How many jobs are to be accepted in all. */
  readonly jobs: number;
}

/** Fills every bucket until so many jobs were accepted: most in batches, some alone under an idempotency key. */
export class Feed {
  readonly #parts: FeedParts;
  #keys = 0;
  #isStopped = false;

  constructor(parts: FeedParts) {
    this.#parts = parts;
  }

  /** Resolves once all were accepted, or it was stopped. */
  async run(): Promise<void> {
    await Promise.all(TENANTS.map((tenant, i) => this.#fill(tenant, i)));
  }

  stop(): void {
    this.#isStopped = true;
  }

  async #fill(tenant: string, first: number): Promise<void> {
    const { ledger, jobs, random } = this.#parts;
    for (let turn = first; !this.#isStopped && ledger.accepted.size < jobs; turn += 1) {
      const type = TYPES[turn % TYPES.length] ?? TYPES[0];
      const job = (): Enqueued => ({ type, tenant, cost: 1, data: { workMs: random.pick([5, 10, 20, 40]) } });
      const statuses = random.next() < 0.1 ? [await this.#postOnce(job())] : await this.#postAll(tenant, job);
      if (statuses.includes(429)) await pause(FULL_MS);
      else await pause(statuses.every((status) => status === 202) ? GAP_MS : AWAY_MS);
    }
  }

  async #postAll(tenant: string, job: () => Enqueued): Promise<readonly number[]> {
    const { now } = this.#parts;
    const jobs = Array.from({ length: TOGETHER }, job);
    const sentAt = now();
    const answers = await this.#witness().enqueueBatch(tenant, jobs);
    return answers.map(({ status, body }, i) => {
      const sent = jobs[i];
      if (sent) this.#book(sent, status, body, sentAt);
      return status;
    });
  }

  /** Sent until there is an answer, and once more, which must name the same job. */
  async #postOnce(job: Enqueued): Promise<number> {
    const { now } = this.#parts;
    this.#keys += 1;
    const keyed = { ...job, idempotencyKey: `key-${this.#keys}` };
    let accepted = 0;
    for (let sent = 0; sent < MAX_REPEATS; sent += 1) {
      const sentAt = now();
      const { status, body } = await this.#witness().enqueue(keyed);
      this.#book(keyed, status, body, sentAt);
      if (status === 202) accepted += 1;
      if (accepted === 2 || (status !== 202 && status !== 0 && status !== 503)) return status;
      if (status !== 202) await pause(AWAY_MS);
    }
    return 0;
  }

  #witness(): Witness {
    return this.#parts.random.pick(this.#parts.witnesses);
  }

  #book(job: Enqueued, status: number, body: unknown, sentAt: number): void {
    const { ledger, now } = this.#parts;
    const { type, tenant, idempotencyKey: key } = job;
    const [id, acceptedAt] = [textField(body, 'id'), now()];
    const accepted = status === 202 && id !== undefined ? { id, type, tenant, sentAt, acceptedAt } : undefined;
    ledger.answered({ status, tookMs: acceptedAt - sentAt, job: accepted, key, code: textField(body, 'code') });
  }
}
