import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
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
/** Connections that it keeps open: 200 streams and 1,000 waits are what a tenant may have in one process. */
const MOST = { idle: 1500, waits: 1200, streams: 300 };
type Crowd = keyof typeof MOST;
/** As many as a listening socket lets stand in line. */
const AT_ONCE = 100;
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
  /** How often it was told that it has all the waits, or streams, that one tenant may have in a process. */
  readonly turnedAway = { waits: 0, streams: 0 };
  readonly #options: AdversaryOptions;
  readonly #random: Random;
  readonly #open: Readonly<Record<Crowd, Set<Socket>>> = { idle: new Set(), waits: new Set(), streams: new Set() };
  /** A job that does not start, for whose end it waits. */
  #distant = '';
  #jobs: string[] = [];
  #numbers = 0;

  constructor(options: AdversaryOptions) {
    this.#options = options;
    this.#random = new Random(options.seed);
  }

  /** Waits for the end of a job, and follows it, over as many connections as it gets. */
  async assemble(): Promise<void> {
    const { type } = this.#options;
    const { body } = await this.#post('/v1/jobs', JSON.stringify({ type, data: {}, delayMs: DAY_MS }));
    const id = idIn(body);
    if (id === undefined) throw new Error('nobody took its first job');
    this.#distant = id;
    for (const crowd of ['waits', 'streams'] as const) {
      while (this.turnedAway[crowd] === 0) {
        await this.#follow(crowd, this.#distant);
        // Who is turned away hears of it later.
        await pause(10);
      }
    }
  }

  /** All that it may do, by name. */
  get names(): readonly string[] {
    return Object.keys(this.#repertoire());
  }

  /** Attacks until told to stop, at first in every way once. Rejects when an attack itself is broken. */
  async rage(until: AbortSignal): Promise<void> {
    const attacks = Object.entries(this.#repertoire());
    const untried = [...attacks];
    await Promise.all(
      Array.from({ length: CALLERS }, async () => {
        while (!until.aborted) {
          const [untriedOne] = untried.splice(this.#below(untried.length), 1);
          const [name, attack] = untriedOne ?? attacks[this.#below(attacks.length)] ?? [];
          if (name === undefined || attack === undefined) throw new Error('no attack');
          this.attacks.set(name, (this.attacks.get(name) ?? 0) + 1);
          await attack();
        }
      }),
    );
  }

  /** Closes what it held open. Its jobs stay. */
  leave(): void {
    for (const crowd of Object.values(this.#open)) for (const socket of crowd) socket.destroy();
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
      'waits that do not end': () => this.#follow('waits', this.#distant),
      'waits for a job that a storm cancels': () => this.#follow('waits', this.#pick(this.#jobs) ?? this.#distant),
      'streams that nobody reads': () => this.#follow('streams', this.#pick(this.#jobs) ?? this.#distant),
      'connections that say nothing': () => this.#hold('idle', ''),
      'connections that stop in the middle': () => this.#hold('idle', 'POST /v1/jobs HTTP/1.1\r\nhost: a\r\nx-slow: '),
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
      const id = idIn(answer);
      if (id !== undefined) this.#jobs.push(id);
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

  async #follow(crowd: 'waits' | 'streams', job: string): Promise<void> {
    const [path, prefer] = crowd === 'waits' ? [job, 'prefer: wait=60\r\n'] : [`${job}/events`, ''];
    const { key } = this.#options;
    await this.#hold(
      crowd,
      `GET /v1/jobs/${path} HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${key}\r\n${prefer}\r\n`,
    );
  }

  /** Opens more connections, says so much on each, and waits until they are open, and nothing else. */
  async #hold(crowd: Crowd, says: string): Promise<void> {
    const { hostname, port } = new URL(this.#options.url);
    const open = this.#open[crowd];
    const more = Math.min(AT_ONCE, MOST[crowd] - open.size);
    const sockets = Array.from({ length: more }, () => connect(Number(port), hostname));
    const opened = sockets.map(async (socket) => {
      open.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => open.delete(socket));
      socket.on('data', (bytes) => this.#heard(crowd, socket, bytes));
      socket.write(says);
      await new Promise((resolve) => socket.once('connect', resolve).once('close', resolve));
    });
    await Promise.all(opened);
  }

  /** A stream that has begun is not read any more; whatever else is answered ends the connection. */
  #heard(crowd: Crowd, socket: Socket, bytes: Buffer): void {
    const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(bytes.toString('latin1', 0, 20))?.[1]);
    this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1);
    if (crowd !== 'idle' && status === 429) this.turnedAway[crowd] += 1;
    if (crowd === 'streams' && status === 200) socket.pause();
    else socket.destroy();
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

function idIn(answer: unknown): string | undefined {
  return typeof answer === 'object' && answer !== null && 'id' in answer ? String(answer.id) : undefined;
}

const ODD_NUMBERS = ['1e400', '-1', '0', '1e-9', '0.001', '1e9', 'null', '"NaN"', '[]', '4', '9007199254740993'];
const WEIRD_IDS = ['%00', '__proto__', '..%2f..', 'a:b', '%7Bhg:a:0%7D:type', 'x'.repeat(8000), '%F0%9F%92%A5', '*'];
