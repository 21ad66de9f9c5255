import { connect, type Socket } from 'node:net';
import { Random } from '../../../bench/fairness/random.js';

/** Who attacks, with one valid key, and whose jobs it knows of. */
export interface AdversaryOptions {
  readonly url: string;
  readonly key: string;
  readonly type: string;
  readonly policy: string;
  readonly seed: number;
  /** Ids of other tenants' jobs. */
  readonly othersJobs: () => readonly string[];
}

type Answer = { readonly status: number; readonly body: unknown };

/** Callers at once. */
const CALLERS = 4;
const IDLE_CONNECTIONS = 1500;
const BATCH = 1000;
const DAY_MS = 86_400_000;

/**
 * Does whatever one tenant's key allows, and what it does not, in an order that a seed decides. It keeps no promise, reads
 * no Retry-After and leaves everything behind. Statuses are counted, so that a test can see that it did get through.
 */
export class Adversary {
  /** How often each attack was made, and each status answered. */
  readonly attacks = new Map<string, number>();
  readonly statuses = new Map<number, number>();
  readonly #options: AdversaryOptions;
  readonly #random: Random;
  readonly #idle = new Set<Socket>();
  #jobs: string[] = [];
  #numbers = 0;

  constructor(options: AdversaryOptions) {
    this.#options = options;
    this.#random = new Random(options.seed);
  }

  /** Attacks until told to stop. Rejects when an attack itself is broken. */
  async rage(until: AbortSignal): Promise<void> {
    const attacks = Object.entries(this.#repertoire());
    await Promise.all(
      Array.from({ length: CALLERS }, async () => {
        while (!until.aborted) {
          const [name, attack] = attacks[this.#below(attacks.length)] ?? [];
          if (name === undefined || attack === undefined) throw new Error('no attack');
          this.attacks.set(name, (this.attacks.get(name) ?? 0) + 1);
          await attack();
        }
      }),
    );
  }

  /** Closes what it held open. Its jobs stay. */
  leave(): void {
    for (const socket of this.#idle) socket.destroy();
  }

  #repertoire(): Readonly<Record<string, () => Promise<unknown>>> {
    const { type, policy } = this.#options;
    const job = (more: object = {}) => ({ type, data: {}, ...more });
    const odd = () => this.#pick(ODD_NUMBERS);
    return {
      'lies about costs': () => this.#post('/v1/jobs', `{"type":"${type}","data":{},"cost":${odd()}}`),
      'odd fields': () =>
        this.#post(
          '/v1/jobs',
          `{"type":"${type}","data":{},"priority":${odd()},"delayMs":${odd()},"startBy":"${odd()}"}`,
        ),
      'delayed floods': () => {
        const delayMs = 500 + this.#below(3000);
        return this.#batch(
          Array.from({ length: BATCH }, (_, i) => job({ delayMs, priority: i % 10, cost: 1 + (i % 3) })),
        );
      },
      'floods that expire at once': () => {
        const startBy = new Date(Date.now() + 500 + this.#below(2000)).toISOString();
        return this.#batch(Array.from({ length: BATCH }, () => job({ startBy, delayMs: 100 })));
      },
      'floods of bytes': () => this.#job(job({ data: { text: 'x'.repeat(1 + this.#below(60_000)) } })),
      'payloads as large as may be': () => this.#batch([job({ data: { text: 'x'.repeat(200_000) } }), job()]),
      'upstreams that are busy for a day': () => this.#job(job({ data: { busyMs: DAY_MS } })),
      'jobs that fail': () => this.#job(job({ data: { fail: true } })),
      'jobs that do not end': () => this.#job(job({ data: { workMs: DAY_MS } })),
      'idempotency keys by the thousand': () =>
        this.#batch(Array.from({ length: BATCH }, () => job({ idempotencyKey: `${this.#name()}${'k'.repeat(200)}` }))),
      'one idempotency key, many payloads': () =>
        this.#batch(Array.from({ length: 50 }, (_, i) => job({ idempotencyKey: 'one', data: { i } }))),
      'batches of nonsense': () => this.#post('/v1/jobs/batch', `{"jobs":[${'[[[],{}],'.repeat(this.#below(20_000))}`),
      'deep documents': () =>
        this.#post('/v1/jobs', `{"type":"${type}","data":${'{"a":'.repeat(5000)}1${'}'.repeat(5001)}`),
      'endless keys of a policy': () =>
        this.#post(
          '/v1/check',
          JSON.stringify({ policy, key: `${this.#name()}${'é'.repeat(this.#below(500))}`, cost: 0.5 }),
        ),
      'cancel storms': () => Promise.all(this.#jobs.splice(0, 40).map((id) => this.#ask('DELETE', `/v1/jobs/${id}`))),
      'other tenants’ jobs': () => {
        const id = encodeURIComponent(this.#pick(this.#options.othersJobs()) ?? 'none');
        return Promise.all(['GET', 'DELETE'].map((method) => this.#ask(method, `/v1/jobs/${id}`)));
      },
      'other tenants’ names': () => this.#post('/v1/jobs', JSON.stringify(job({ tenant: 'steady' }))),
      'weird ids': () => this.#ask('GET', `/v1/jobs/${this.#pick(WEIRD_IDS)}`),
      'weird headers': () => this.#job(job(), { 'x-request-id': 'r'.repeat(4000), 'idempotency-key': 'é'.repeat(3) }),
      'an admin’s orders': () =>
        Promise.all([
          this.#ask('PATCH', '/v1/tenants/steady', '{"rate":"0.001/s"}'),
          this.#ask('POST', `/v1/types/${type}/pause`, '{}'),
        ]),
      'pages upon pages': () => this.#ask('GET', `/v1/jobs?type=${type}&state=delayed&limit=100`),
      'connections that say nothing': async () => this.#open(80, ''),
      'connections that stop in the middle': async () =>
        this.#open(80, 'POST /v1/jobs HTTP/1.1\r\nhost: a\r\nx-slow: '),
    };
  }

  async #job(job: object, headers: Readonly<Record<string, string>> = {}): Promise<void> {
    const { body } = await this.#ask('POST', '/v1/jobs', JSON.stringify(job), headers);
    this.#remember([body]);
  }

  async #batch(jobs: readonly object[]): Promise<void> {
    const { body } = await this.#post('/v1/jobs/batch', JSON.stringify({ jobs }));
    if (typeof body === 'object' && body !== null && 'jobs' in body && Array.isArray(body.jobs))
      this.#remember(body.jobs);
  }

  /** Ids to be cancelled later. */
  #remember(answers: readonly unknown[]): void {
    for (const answer of answers) {
      if (typeof answer === 'object' && answer !== null && 'id' in answer) this.#jobs.push(String(answer.id));
    }
    this.#jobs = this.#jobs.slice(-4000);
  }

  #post(path: string, body: string): Promise<Answer> {
    return this.#ask('POST', path, body);
  }

  async #ask(
    method: string,
    path: string,
    body?: string,
    more: Readonly<Record<string, string>> = {},
  ): Promise<Answer> {
    const { url, key } = this.#options;
    const json = body === undefined ? {} : { body };
    const headers: Record<string, string> = { authorization: `Bearer ${key}`, ...more };
    if (body !== undefined) headers['content-type'] = 'application/json';
    try {
      const answer = await fetch(`${url}${path}`, { method, headers, ...json });
      this.statuses.set(answer.status, (this.statuses.get(answer.status) ?? 0) + 1);
      const text = await answer.text();
      return { status: answer.status, body: text.startsWith('{') ? JSON.parse(text) : undefined };
    } catch {
      // A connection that the server closed in the middle, or a header that cannot be sent.
      return { status: 0, body: undefined };
    }
  }

  #open(count: number, begin: string): void {
    const { hostname, port } = new URL(this.#options.url);
    for (let opened = 0; opened < count && this.#idle.size < IDLE_CONNECTIONS; opened += 1) {
      const socket = connect(Number(port), hostname);
      socket.on('error', () => undefined);
      socket.on('close', () => this.#idle.delete(socket));
      socket.write(begin);
      this.#idle.add(socket);
    }
  }

  #below(limit: number): number {
    return Math.floor(this.#random.uniform() * limit);
  }

  #pick<Item>(items: readonly Item[]): Item | undefined {
    return items[this.#below(items.length)];
  }

  #name(): string {
    this.#numbers += 1;
    return `${this.#options.seed}-${this.#numbers}-`;
  }
}

const ODD_NUMBERS = ['1e400', '-1', '0', '1e-9', '0.001', '1e9', 'null', '"NaN"', '[]', '4', '9007199254740993'];
const WEIRD_IDS = ['%00', '__proto__', '..%2f..', 'a:b', '%7Bhg:a:0%7D:type', 'x'.repeat(8000), '%F0%9F%92%A5', '*'];
