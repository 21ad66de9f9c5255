/** What the door said to one job. */
export type Answer = { readonly kind: 'admitted'; readonly id: string } | { readonly kind: 'refused' };

/** A job as the API shows it. Instants are milliseconds since 1970 by the server's clock, `null` where not reached. */
export interface JobReading {
  readonly state: string;
  readonly cost: number;
  readonly createdAtMs: number;
  readonly startedAtMs: number | null;
  readonly endedAtMs: number | null;
  readonly releaseAtMs: number | null;
  readonly result: unknown;
  readonly error: unknown;
}

const ANSWER_WITHIN_MS = 10_000;

/** The API as one tenant uses it. An answer that the demo has no use for is an error. */
export class DemoClient {
  readonly #url: string;
  readonly #key: string;

  constructor(url: string, key: string) {
    this.#url = url;
    this.#key = key;
  }

  /** Asks for one page to be read. */
  async submit(page: string): Promise<Answer> {
    const { status, body } = await this.#call('POST', '/v1/jobs', { type: 'ocr', data: { page } });
    if (status === 429) return { kind: 'refused' };
    if (status === 202 && 'id' in body && typeof body.id === 'string') return { kind: 'admitted', id: body.id };
    throw new Error(`POST /v1/jobs answered ${status}: ${JSON.stringify(body)}`);
  }

  async job(id: string): Promise<JobReading> {
    const { status, body } = await this.#call('GET', `/v1/jobs/${encodeURIComponent(id)}`);
    if (status !== 200 || !('state' in body) || typeof body.state !== 'string') {
      throw new Error(`GET /v1/jobs/${id} answered ${status}: ${JSON.stringify(body)}`);
    }
    const fields = new Map<string, unknown>(Object.entries(body));
    const createdAtMs = instant(fields.get('createdAt'));
    const cost = fields.get('cost');
    if (createdAtMs === null || typeof cost !== 'number') {
      throw new Error(`GET /v1/jobs/${id}: no createdAt or no cost in ${JSON.stringify(body)}`);
    }
    return {
      state: body.state,
      cost,
      createdAtMs,
      startedAtMs: instant(fields.get('startedAt')),
      endedAtMs: instant(fields.get('endedAt')),
      releaseAtMs: instant(fields.get('releaseAt')),
      result: fields.get('result'),
      error: fields.get('error'),
    };
  }

  async #call(
    method: string,
    path: string,
    body?: object,
  ): Promise<{ readonly status: number; readonly body: object }> {
    const response = await fetch(this.#url + path, {
      method,
      headers: { authorization: `Bearer ${this.#key}`, ...(body ? { 'content-type': 'application/json' } : {}) },
      ...(body ? { body: JSON.stringify(body) } : {}),
      signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
    }).catch((error: unknown) => {
      throw new Error(`${method} ${path} got no answer`, { cause: error });
    });
    const answer: unknown = await response.json();
    if (typeof answer !== 'object' || answer === null) throw new Error(`${method} ${path} answered no object`);
    return { status: response.status, body: answer };
  }
}

function instant(value: unknown): number | null {
  return typeof value === 'string' ? Date.parse(value) : null;
}
