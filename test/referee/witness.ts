import { setTimeout as pause } from 'node:timers/promises';
import { isEnd } from './job-ends.js';
import { field, numberField, textField } from './json-field.js';
import type { Referee } from './referee.js';
import type { AdmissionEvent } from './trace.js';

/** Where the API is, and which key proves a tenant. */
export interface WitnessOptions {
  /** `http://host:port` */
  readonly baseUrl: string;
  readonly keyOf: (tenant: string) => string;
  /** True when the keys are admin keys, which must name the tenant in every request. */
  readonly admin?: boolean;
}

/** A job to enqueue, and what the client knows it to cost. */
export interface Enqueued {
  readonly type: string;
  readonly tenant: string;
  readonly cost: number;
  readonly data?: object;
  readonly priority?: number;
  readonly delayMs?: number;
  readonly startBy?: string;
  readonly idempotencyKey?: string;
  readonly webhook?: object;
}

/** What HTTP answered. */
export interface Answered {
  /** 0 when no answer came. */
  readonly status: number;
  readonly body: unknown;
}

/** How long to wait between two looks at a job that has not ended. */
const LOOK_AGAIN_MS = 25;

/** A name says which items came together: no two batches of one trace may share it, whoever sent them. */
let batches = 0;

/** The HTTP client of a test: it uses the API as any caller does, and reports to the referee what was answered and when. */
export class Witness {
  readonly #referee: Referee;
  readonly #options: WitnessOptions;
  readonly #admitted = new Map<string, string>();

  constructor(referee: Referee, options: WitnessOptions) {
    this.#referee = referee;
    this.#options = options;
  }

  /** `POST /v1/jobs`. */
  async enqueue(job: Enqueued): Promise<Answered> {
    const headers = job.idempotencyKey === undefined ? {} : { 'idempotency-key': job.idempotencyKey };
    const exchange = await this.#ask('POST', '/v1/jobs', job.tenant, this.#requestOf(job), headers);
    const { status, body, ...times } = exchange;
    this.#report(job, { status, body, ...times });
    return { status, body };
  }

  /** `POST /v1/jobs/batch` for jobs of one tenant; one answer per item, as each would have had alone. */
  async enqueueBatch(tenant: string, jobs: readonly Omit<Enqueued, 'tenant'>[]): Promise<readonly Answered[]> {
    const items = jobs.map((job) => ({
      ...this.#requestOf({ ...job, tenant }),
      ...(job.idempotencyKey === undefined ? {} : { idempotencyKey: job.idempotencyKey }),
    }));
    const { status, body, ...times } = await this.#ask('POST', '/v1/jobs/batch', tenant, { jobs: items });
    batches += 1;
    const request = `batch ${batches}`;
    return jobs.map((job, index) => {
      const answered = status === 200 ? itemAnswer(body, index) : { status, body };
      this.#report({ ...job, tenant }, { ...answered, ...times, request, index });
      return answered;
    });
  }

  /** `GET /v1/jobs/:id`. */
  async look(tenant: string, job: string): Promise<Answered> {
    const { status, body, dateMs: _, ...times } = await this.#ask('GET', `/v1/jobs/${encodeURIComponent(job)}`, tenant);
    const state = textField(body, 'state') ?? null;
    const result = state === 'completed' ? field(body, 'result') : undefined;
    // Without an answer nothing was seen.
    if (status !== 0 && status < 500) {
      this.#referee.recordSight({ job, status, state, ...times, ...(result === undefined ? {} : { result }) });
    }
    return { status, body };
  }

  /** `DELETE /v1/jobs/:id`. */
  async cancel(tenant: string, job: string): Promise<Answered> {
    const {
      status,
      body,
      dateMs: _,
      ...times
    } = await this.#ask('DELETE', `/v1/jobs/${encodeURIComponent(job)}`, tenant);
    this.#referee.recordCancellation({ job, status, ...times });
    return { status, body };
  }

  /** Looks at every admitted job until it has ended; what has not within `timeoutMs` is left to the verdict. */
  async followToEnds(timeoutMs = 120_000): Promise<void> {
    const deadline = this.#referee.now() + timeoutMs;
    for (const [job, tenant] of this.#admitted) {
      for (;;) {
        const { body, status } = await this.look(tenant, job);
        if (isEnd(textField(body, 'state') ?? null) || status === 404 || this.#referee.now() > deadline) break;
        await pause(LOOK_AGAIN_MS);
      }
    }
  }

  #requestOf({ type, tenant, data = {}, priority, delayMs, startBy, webhook }: Enqueued): object {
    return {
      type,
      data,
      ...(priority === undefined ? {} : { priority }),
      ...(delayMs === undefined ? {} : { delayMs }),
      ...(startBy === undefined ? {} : { startBy }),
      ...(webhook === undefined ? {} : { webhook }),
      ...(this.#options.admin === true ? { tenant } : {}),
    };
  }

  #report(
    job: Enqueued,
    answered: Pick<AdmissionEvent, 'status' | 'body' | 'sentAt' | 'answeredAt' | 'dateMs' | 'request' | 'index'>,
  ) {
    const { type, tenant, cost, data = {}, priority = 4, delayMs = 0, idempotencyKey } = job;
    const bytes = Buffer.byteLength(JSON.stringify(data));
    const under = idempotencyKey === undefined ? {} : { key: idempotencyKey };
    this.#referee.recordAdmission({ type, tenant, cost, priority, delayMs, bytes, ...under, ...answered });
    const id = textField(answered.body, 'id');
    if (id !== undefined && answered.status < 300 && answered.status > 0) this.#admitted.set(id, tenant);
  }

  async #ask(
    method: string,
    path: string,
    tenant: string,
    body?: object,
    headers: Readonly<Record<string, string>> = {},
  ) {
    const { baseUrl, keyOf, admin } = this.#options;
    const query = admin === true && body === undefined ? `?tenant=${encodeURIComponent(tenant)}` : '';
    const sentAt = this.#referee.now();
    try {
      const response = await fetch(`${baseUrl}${path}${query}`, {
        method,
        headers: {
          authorization: `Bearer ${keyOf(tenant)}`,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      // The head of the answer is there: what follows is only its transport.
      const answeredAt = this.#referee.now();
      const dateMs = Date.parse(response.headers.get('date') ?? '');
      const answer: unknown = await response.json();
      return { status: response.status, body: answer, sentAt, answeredAt, ...(Number.isNaN(dateMs) ? {} : { dateMs }) };
    } catch {
      return { status: 0, body: null, sentAt, answeredAt: this.#referee.now() };
    }
  }
}

/** What an item of a batch would have been answered alone. */
function itemAnswer(body: unknown, index: number): Answered {
  const jobs = field(body, 'jobs');
  const item: unknown = Array.isArray(jobs) ? jobs[index] : undefined;
  if (field(item, 'verdict') === 'admitted') return { status: 202, body: item };
  const problem = field(item, 'problem');
  return { status: numberField(problem, 'status') ?? 0, body: problem };
}
