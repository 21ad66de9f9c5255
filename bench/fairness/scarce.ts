import { setTimeout as delay } from 'node:timers/promises';
import type { Contender, OfferedJob } from './contender.js';
import { contender } from './contenders.js';
import { population, SKEW } from './population.js';
import { Random } from './random.js';
import { type Scarce, ShareWatch } from './share-watch.js';

/** Slots, and how long a job holds one: in the mean 20 ms, lognormal, so 1,000 jobs a second in all. */
const SLOTS = 20;
const SERVICE_MS = 20;
const SIGMA = 1;
/** Tenants of one job each that come while the others are backlogged. */
const NEWCOMERS = 100;
/** Jobs of each tenant that are served in the measured window, and at least this many over all. */
const SERVED_EACH = 5;
const SERVED = 2000;
const CHUNK = 1000;

export interface ScarceOptions {
  readonly contender: string;
  readonly tenants: number;
  /** Given to the tenants in turn. */
  readonly weights?: readonly number[];
  /** Costs are drawn evenly from 1 to this. */
  readonly maxCost?: number;
}

/** Everybody is backlogged, a heavy tenant a hundred times as deep as a light one, and workers are scarce. */
export async function benchScarce(socketPath: string, options: ScarceOptions): Promise<Scarce> {
  const { weights = [1], maxCost = 1 } = options;
  const random = new Random(20_250_101);
  const { light, heavy, all } = population(options.tenants);
  const weightOf = new Map(all.map((tenant, i) => [tenant, weights[i % weights.length] ?? 1]));
  const meanWeight = all.reduce((sum, tenant) => sum + (weightOf.get(tenant) ?? 1), 0) / all.length;
  const toServe = Math.max(SERVED, SERVED_EACH * all.length * (Math.max(...weights) / Math.min(...weights)) ** 0.5);
  const backlogOf = (tenant: string): number =>
    Math.ceil((1.6 * toServe * (weightOf.get(tenant) ?? 1)) / meanWeight / all.length) + 3;

  const newcomers = Array.from({ length: NEWCOMERS }, (_, i) => `new${i}`);
  const watch = new ShareWatch(weightOf);
  const running = await contender(options.contender)({
    ...{ socketPath, slots: SLOTS, tenants: [...all, ...newcomers], weightOf: (tenant) => weightOf.get(tenant) ?? 1 },
    run: async (job) => {
      watch.started(job);
      await delay(random.lognormal(SERVICE_MS, SIGMA));
    },
  });

  const offered: OfferedJob[] = [];
  const offer = (tenant: string): void => {
    const cost = Math.ceil(random.uniform() * maxCost);
    offered.push({ tenant, number: offered.length, cost });
  };
  for (const tenant of light) for (let i = backlogOf(tenant); i > 0; i -= 1) offer(tenant);
  for (const tenant of heavy) for (let i = SKEW * backlogOf(tenant); i > 0; i -= 1) offer(tenant);
  watch.offered(offered);
  const queue = random.shuffled(offered);
  for (let i = 0; i < queue.length; i += CHUNK) await running.add(queue.slice(i, i + CHUNK));

  await running.work();
  await watch.starts(toServe / 10);
  watch.open();
  const arrivals = sendNewcomers(running, newcomers, (toServe * SERVICE_MS) / SLOTS, random, watch);
  await watch.starts(toServe);
  watch.close();
  await arrivals;
  await running.stop();
  return watch.judge();
}

/** One job of each, at instants spread over the first four fifths of the window. */
async function sendNewcomers(
  running: Contender,
  newcomers: readonly string[],
  windowMs: number,
  random: Random,
  watch: ShareWatch,
): Promise<void> {
  const sending = newcomers.map(async (tenant, i) => {
    await delay(0.8 * windowMs * random.uniform());
    if (watch.isClosed) return;
    watch.arrived(tenant);
    await running.add([{ tenant, number: -1 - i, cost: 1 }]);
  });
  await Promise.all(sending);
}
