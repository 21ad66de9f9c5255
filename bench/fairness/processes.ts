import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { HeadgateFolder } from '../../test/support/headgate-process.js';
import { quantile } from '../statistics.js';
import { jain } from './jain.js';
import { Random } from './random.js';

const WEIGHTS = [1, 2, 4, 8] as const;
const TENANTS = 50;
const APIS = 2;
const WORKERS = 3;
const SLOTS_OF_A_WORKER = 4;
/** How long a job holds a slot: lognormal. */
const SERVICE_MS = 100;
const SIGMA = 1;
/** What is offered, over what can be served. */
const OVERCOMMITMENT = 3;
const BATCH = 20;
/** Light tenants, of weight 1 like the least of the others, and how often each of them sends a job: less than its share, which is 0.6 a second. */
const LIGHT = Array.from({ length: 10 }, (_, i) => `light${i}`);
const LIGHT_EVERY_MS = 2500;
const ADMIN_KEY = 'bench-admin-key-0123456789abcdef';

/** Real processes: 2 APIs, 3 workers. Waits in milliseconds. */
export interface Processes {
  readonly seconds: number;
  readonly jobsPerSecond: number;
  /** Of served cost over weight of the 50 tenants, all backlogged. */
  readonly jain: number;
  readonly aloneP50Ms: number;
  readonly aloneP99Ms: number;
  readonly besideP50Ms: number;
  readonly besideP99Ms: number;
  readonly refused: number;
}

/**
 * Fifty tenants with weights of 1, 2, 4 and 8 send three times what the workers can do, for so many seconds; ten light ones
 * send a job now and then, first alone, then beside them.
 */
export async function benchProcesses(_socketPath: string, { seconds }: { seconds: number }): Promise<Processes> {
  const random = new Random(20_250_104);
  const upstream = await Upstream.listen();
  const folder = await HeadgateFolder.create(config(upstream.url));
  try {
    const apis = [];
    for (let i = 0; i < APIS; i += 1) apis.push(await folder.start('serve'));
    for (let i = 0; i < WORKERS; i += 1) await folder.start('work', ['--concurrency', `work=${SLOTS_OF_A_WORKER}`]);
    const urls = apis.map(({ url }) => url);
    const send = sender(urls, random);

    const alone = await lightTenants(send, upstream, seconds / 2);
    const perSecond = ((WORKERS * SLOTS_OF_A_WORKER * 1000) / SERVICE_MS) * OVERCOMMITMENT;
    const stopAt = performance.now() + (seconds + 5) * 1000;
    const flood = sendFlood(send, perSecond, stopAt, random);
    await delay(5000);
    upstream.openWindow();
    const beside = await lightTenants(send, upstream, seconds);
    const served = upstream.closeWindow();
    const refused = await flood;

    const shares = tenants().map(({ name, weight }) => (served.get(name) ?? 0) / weight);
    return {
      seconds,
      jobsPerSecond: [...served.values()].reduce((sum, jobs) => sum + jobs, 0) / seconds,
      jain: jain(shares),
      aloneP50Ms: quantile(alone, 0.5),
      aloneP99Ms: quantile(alone, 0.99),
      besideP50Ms: quantile(beside, 0.5),
      besideP99Ms: quantile(beside, 0.99),
      refused,
    };
  } finally {
    await folder.remove();
    await upstream.close();
  }
}

function tenants(): { name: string; weight: number }[] {
  return Array.from({ length: TENANTS }, (_, i) => ({ name: `t${i}`, weight: WEIGHTS[i % WEIGHTS.length] ?? 1 }));
}

function config(upstream: string): object {
  const tiers = Object.fromEntries(
    WEIGHTS.map((weight) => [`w${weight}`, { rate: 'unlimited', weight, depth: 10_000 }]),
  );
  const named = tenants().map(({ name, weight }) => [name, { tier: `w${weight}` }]);
  return {
    redis: 'embedded',
    admin: { keys: [ADMIN_KEY] },
    types: { work: { handler: new URL('handler.ts', import.meta.url).pathname, options: { upstream } } },
    tiers,
    defaultTier: 'w1',
    tenants: Object.fromEntries([...named, ...LIGHT.map((name) => [name, { tier: 'w1' }] as const)]),
  };
}

type Send = (tenant: string, jobs: number) => Promise<number>;

/** Sends jobs of a tenant to one API after the other; resolves with how many were refused. */
function sender(urls: readonly string[], random: Random): Send {
  let turn = 0;
  return async (tenant, jobs) => {
    turn += 1;
    const url = urls[turn % urls.length] ?? '';
    const batch = Array.from({ length: jobs }, () => ({
      type: 'work',
      tenant,
      data: { ms: Math.min(30_000, random.lognormal(SERVICE_MS, SIGMA)) },
    }));
    const response = await fetch(`${url}/v1/jobs/batch`, {
      method: 'POST',
      headers: { authorization: `Bearer ${ADMIN_KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({ jobs: batch }),
    });
    if (!response.ok) throw new Error(`the API answered ${response.status}: ${await response.text()}`);
    const { jobs: verdicts }: { jobs: { verdict: string }[] } = JSON.parse(await response.text());
    return verdicts.filter(({ verdict }) => verdict !== 'admitted').length;
  };
}

/** What every tenant's share would be, times the overcommitment, at the instants of a Poisson process. */
async function sendFlood(send: Send, jobsPerSecond: number, stopAt: number, random: Random): Promise<number> {
  const all = tenants();
  const byWeight = all.flatMap(({ name, weight }) => Array.from({ length: weight }, () => name));
  let refused = 0;
  const sending: Promise<void>[] = [];
  let at = performance.now();
  while (at < stopAt) {
    at += random.exponential((BATCH * 1000) / jobsPerSecond);
    const early = at - performance.now();
    if (early > 0) await delay(early);
    const tenant = byWeight[Math.floor(random.uniform() * byWeight.length)] ?? '';
    sending.push(
      send(tenant, BATCH).then((no) => {
        refused += no;
      }),
    );
  }
  await Promise.all(sending);
  return refused;
}

/** Waits of the light tenants' jobs, one at a time of each, for so many seconds. */
async function lightTenants(send: Send, upstream: Upstream, seconds: number): Promise<number[]> {
  const endsAt = performance.now() + seconds * 1000;
  const waits = LIGHT.map(async (tenant, i) => {
    const own: number[] = [];
    await delay((i * LIGHT_EVERY_MS) / LIGHT.length);
    while (performance.now() < endsAt) {
      const next = delay(LIGHT_EVERY_MS);
      const arrivedAt = performance.now();
      const started = upstream.nextStart(tenant);
      await send(tenant, 1);
      own.push((await started) - arrivedAt);
      await next;
    }
    return own;
  });
  return (await Promise.all(waits)).flat();
}

/** What the handlers call: it sees who starts when. */
class Upstream {
  readonly url: string;
  readonly #server: ReturnType<typeof createServer>;
  #served: Map<string, number> | undefined;
  readonly #waiting = new Map<string, (at: number) => void>();

  private constructor(server: ReturnType<typeof createServer>, port: number) {
    this.#server = server;
    this.url = `http://127.0.0.1:${port}`;
    server.on('request', (request: IncomingMessage, response) => {
      this.#started(decodeURIComponent(request.url?.slice(1) ?? ''));
      response.end();
    });
  }

  static async listen(): Promise<Upstream> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('the upstream does not listen on a port');
    return new Upstream(server, address.port);
  }

  nextStart(tenant: string): Promise<number> {
    return new Promise((resolve) => this.#waiting.set(tenant, resolve));
  }

  openWindow(): void {
    this.#served = new Map();
  }

  /** Starts by tenant since the window was opened. */
  closeWindow(): ReadonlyMap<string, number> {
    const served = this.#served ?? new Map<string, number>();
    this.#served = undefined;
    return served;
  }

  async close(): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  #started(tenant: string): void {
    this.#served?.set(tenant, (this.#served.get(tenant) ?? 0) + 1);
    this.#waiting.get(tenant)?.(performance.now());
    this.#waiting.delete(tenant);
  }
}
