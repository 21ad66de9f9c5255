import { errorOfAnswer, HeadgateError } from './headgate-error.js';
import type { Patience } from './patience.js';

/** Where Headgate is and how to speak to it. */
export interface ClientOptions {
  /** As in `http://127.0.0.1:8080`; a path before `/v1` is kept. */
  readonly url: string | URL;
  /** A tenant's or an admin's key. */
  readonly key: string;
  /** For whom an admin's key speaks; a call may name another. */
  readonly tenant?: string | undefined;
  /** How often a request is repeated that was answered 429 or 503, or not at all; 4 unless stated. */
  readonly maxRetries?: number | undefined;
  /** A longer `Retry-After` is not waited for, but thrown; 60,000 ms unless stated. */
  readonly maxRetryAfterMs?: number | undefined;
  /** How long one request may stay without an answer, beside what it asked to wait; 30,000 ms unless stated. */
  readonly requestTimeoutMs?: number | undefined;
  /** In place of the global one. */
  readonly fetch?: typeof fetch | undefined;
}

/** One request. */
export interface Request {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** From `/v1` on, already encoded. */
  readonly path: string;
  /** Parameters; those that are undefined are left out. */
  readonly query?: Readonly<Record<string, string | number | undefined>> | undefined;
  /** JSON. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Seconds that the answer may be held back: `Prefer: wait`. */
  readonly waitS?: number | undefined;
}

/** A request as `fetch` takes it. */
export interface Prepared {
  readonly url: URL;
  readonly init: RequestInit;
}

/** An answer below 400. */
export interface Answer<Body> {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Body;
}

const BACKOFF_MS = { first: 250, last: 10_000 } as const;

/** Sends requests, and repeats those that may pass later: at the earliest when the answer said, else ever later. */
export class Transport {
  readonly maxRetries: number;
  readonly requestTimeoutMs: number;
  readonly #base: URL;
  readonly #key: string;
  readonly #maxRetryAfterMs: number;
  readonly #fetch: typeof fetch;

  /** @throws TypeError when `url` is none. */
  constructor(options: ClientOptions) {
    const { url, key, maxRetries = 4, maxRetryAfterMs = 60_000, requestTimeoutMs = 30_000 } = options;
    this.#base = new URL(String(url).replace(/\/*$/, '/'));
    this.#key = key;
    this.maxRetries = maxRetries;
    this.#maxRetryAfterMs = maxRetryAfterMs;
    this.requestTimeoutMs = requestTimeoutMs;
    this.#fetch = options.fetch ?? ((input, init) => fetch(input, init));
  }

  /** The answer to a request, its body read as JSON. */
  async call<Body>(request: Request, patience: Patience): Promise<Answer<Body>> {
    const timeoutMs = this.requestTimeoutMs + (request.waitS ?? 0) * 1000;
    const prepared = this.prepare(request);
    return this.#repeated(patience, async () => {
      const response = await this.open(prepared, patience.signal(timeoutMs));
      const text = await response.text();
      const body: Body = text === '' ? undefined : JSON.parse(text);
      return { status: response.status, headers: response.headers, body };
    });
  }

  /** A request as `fetch` takes it. @throws TypeError when it cannot be sent at all. */
  prepare({ method, path, query = {}, body, headers, waitS }: Request): Prepared {
    const url = new URL(path.replace(/^\//, ''), this.#base);
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined) url.searchParams.set(name, String(value));
    }
    const all = new Headers({
      authorization: `Bearer ${this.#key}`,
      ...(waitS !== undefined && { prefer: `wait=${waitS}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    });
    return { url, init: { method, headers: all, ...(body !== undefined && { body: JSON.stringify(body) }) } };
  }

  /** One attempt, up to the headers of the answer. @throws HeadgateError for every answer of 400 and above. */
  async open({ url, init }: Prepared, signal: AbortSignal): Promise<Response> {
    const response = await this.#fetch(url, { ...init, signal });
    if (response.status >= 400) throw errorOfAnswer(response, await response.text());
    return response;
  }

  /** How long to wait after so many failures in a row; rejects with the error when there is nothing to wait for. */
  async waitToRepeat(error: HeadgateError, failures: number, patience: Patience, leastMs = 0): Promise<void> {
    const backoffMs = Math.min(BACKOFF_MS.last, BACKOFF_MS.first * 2 ** Math.min(failures, 10));
    // Spread, so that those who were refused together do not come back together; never sooner than was said.
    const spreadMs = backoffMs * (0.5 + Math.random() / 2);
    const waitMs = Math.max(leastMs, error.retryAfterMs === null ? spreadMs : error.retryAfterMs + spreadMs / 10);
    const isHopeless = !error.isPassing || failures >= this.maxRetries;
    if (isHopeless || (error.retryAfterMs ?? 0) > this.#maxRetryAfterMs || waitMs >= patience.leftMs) throw error;
    await patience.sleep(waitMs);
  }

  async #repeated<Result>(patience: Patience, attempt: () => Promise<Result>): Promise<Result> {
    for (let failures = 0; ; failures += 1) {
      patience.throwIfOver();
      try {
        return await attempt();
      } catch (thrown) {
        patience.throwIfOver(undefined, thrown);
        await this.waitToRepeat(errorOf(thrown), failures, patience);
      }
    }
  }
}

/** What a failed attempt was, as an error of ours. */
export function errorOf(thrown: unknown): HeadgateError {
  if (thrown instanceof HeadgateError) return thrown;
  if (thrown instanceof SyntaxError) {
    return new HeadgateError('the answer is not JSON', { code: 'unexpected_answer', status: 200, cause: thrown });
  }
  return new HeadgateError(`no answer: ${reasonOf(thrown)}`, { code: 'network_error', cause: thrown });
}

/** `fetch` says nothing but "fetch failed"; why stands in its cause. */
function reasonOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown);
  return thrown.cause instanceof Error ? thrown.cause.message || thrown.cause.name : thrown.message;
}
