import { follow } from './follow.js';
import {
  type Cancellation,
  type EndedJob,
  hasEnded,
  type Job,
  type JobPage,
  type JobState,
  type NewJob,
  type SubmittedJob,
} from './job.js';
import type { JobEvent } from './job-event.js';
import { type CallOptions, Patience } from './patience.js';
import { type Answer, type ClientOptions, type Request, Transport } from './transport.js';

/** Beside how long a call may take, for whom it is. */
export interface TenantCall extends CallOptions {
  /** For an admin's key; that of the client unless stated. */
  readonly tenant?: string | undefined;
}

/** How a job is submitted. */
export interface SubmitOptions extends CallOptions {
  /** Under which the job is stored once, however often it is sent; a new one for each call unless stated. */
  readonly idempotencyKey?: string | undefined;
}

/** The longest wait that Headgate grants, in seconds. */
const LONGEST_WAIT_S = 60;
/** Where it grants none, a job is looked at so often. */
const LOOK_MS = 1000;

/**
 * Speaks to Headgate over HTTP, with `fetch` and nothing else. Requests that were answered 429 or 503, or not at all, are
 * repeated at the time that the answer named; a job is stored once all the same. Every method rejects with a
 * HeadgateError, or with the reason of the caller's signal.
 */
export class HeadgateClient {
  readonly #transport: Transport;
  readonly #tenant: string | undefined;

  /** @throws TypeError when `url` is none. */
  constructor(options: ClientOptions) {
    this.#transport = new Transport(options);
    this.#tenant = options.tenant;
  }

  /** Hands in a job; resolves once it is stored, with when it is expected to start. */
  async submit(job: NewJob, options: SubmitOptions = {}): Promise<SubmittedJob> {
    const { body, headers } = await this.#post<SubmittedJob>(job, options, new Patience(options));
    return { ...body, replayed: headers.has('idempotent-replayed') };
  }

  /** Hands in a job and waits for its end, whatever it is: look at `state`. */
  async run<Result = unknown>(job: NewJob, options: SubmitOptions = {}): Promise<EndedJob<Result>> {
    const patience = new Patience(options);
    const tenant = job.tenant ?? this.#tenant;
    return this.#untilEnded(patience, undefined, (waitS, id) =>
      id === undefined
        ? this.#post<Job<Result>>(job, options, patience, waitS)
        : this.#look<Result>(id, tenant, patience, waitS),
    );
  }

  /** Waits for the end of a job, whatever it is: look at `state`. */
  async result<Result = unknown>(id: string, options: TenantCall = {}): Promise<EndedJob<Result>> {
    const patience = new Patience(options);
    return this.#untilEnded(patience, id, (waitS) => this.#look<Result>(id, options.tenant, patience, waitS));
  }

  /** A job as it is now. */
  async job<Result = unknown>(id: string, options: TenantCall = {}): Promise<Job<Result>> {
    return (await this.#look<Result>(id, options.tenant, new Patience(options))).body;
  }

  /**
   * All that happens to a job until its end, which is the last event. It goes on by itself where the connection is lost,
   * without a gap or a repetition in the output. `lastEventId` is the id of the last output that is known from before.
   */
  stream<Result = unknown>(
    id: string,
    options: TenantCall & { readonly lastEventId?: string | undefined } = {},
  ): AsyncGenerator<JobEvent<Result>, void, undefined> {
    const request = this.#about('GET', `${pathOf(id)}/events`, options.tenant);
    return follow(this.#transport, request, new Patience(options), options.lastEventId);
  }

  /**
   * Cancels a job that has not started, and asks one that runs to stop. A repetition whose first answer was lost may be
   * refused as `already_ended`.
   */
  async cancel(id: string, options: TenantCall = {}): Promise<Cancellation> {
    return this.#body(this.#about('DELETE', pathOf(id), options.tenant), options);
  }

  /** Has a failed job wait again. A repetition whose first answer was lost may be refused as `not_failed`. */
  async retry(id: string, options: TenantCall = {}): Promise<Job> {
    return this.#body(this.#about('POST', `${pathOf(id)}/retry`, options.tenant), options);
  }

  /** One page of the jobs of a type and state, oldest first. */
  async jobs(
    filter: { readonly type: string; readonly state: JobState; readonly limit?: number; readonly cursor?: string },
    options: TenantCall = {},
  ): Promise<JobPage> {
    return this.#body(this.#about('GET', '/v1/jobs', options.tenant, { ...filter }), options);
  }

  /** Any other route of docs/http.md: the body of its answer. The tenant is not added. */
  async request<Body = unknown>(request: Omit<Request, 'waitS'>, options: CallOptions = {}): Promise<Body> {
    return this.#body(request, options);
  }

  async #untilEnded<Result>(
    patience: Patience,
    known: string | undefined,
    ask: (waitS: number, id: string | undefined) => Promise<Answer<Job<Result>>>,
  ): Promise<EndedJob<Result>> {
    let id = known;
    for (;;) {
      patience.throwIfOver(id);
      const askedAtMs = performance.now();
      const waitS = Math.floor(Math.min(LONGEST_WAIT_S, patience.leftMs / 1000));
      const { body } = await ask(waitS, id).catch((error: unknown) => {
        patience.throwIfOver(id, error);
        throw error;
      });
      if (hasEnded(body)) return body;
      id = body.id;
      // A server that is full or closes answers at once: it is not asked in a rush.
      await patience.sleep(LOOK_MS - (performance.now() - askedAtMs));
    }
  }

  #post<Body>(
    job: NewJob,
    { idempotencyKey = crypto.randomUUID() }: SubmitOptions,
    patience: Patience,
    waitS?: number,
  ): Promise<Answer<Body>> {
    const tenant = job.tenant ?? this.#tenant;
    const body = { ...job, ...(tenant !== undefined && { tenant }) };
    const headers = { 'idempotency-key': idempotencyKey };
    return this.#transport.call({ method: 'POST', path: '/v1/jobs', body, headers, waitS }, patience);
  }

  #look<Result>(
    id: string,
    tenant: string | undefined,
    patience: Patience,
    waitS?: number,
  ): Promise<Answer<Job<Result>>> {
    return this.#transport.call({ ...this.#about('GET', pathOf(id), tenant), waitS }, patience);
  }

  async #body<Body>(request: Request, options: CallOptions): Promise<Body> {
    return (await this.#transport.call<Body>(request, new Patience(options))).body;
  }

  #about(method: Request['method'], path: string, tenant: string | undefined, query: Request['query'] = {}): Request {
    return { method, path, query: { ...query, tenant: tenant ?? this.#tenant } };
  }
}

function pathOf(id: string): string {
  return `/v1/jobs/${encodeURIComponent(id)}`;
}
