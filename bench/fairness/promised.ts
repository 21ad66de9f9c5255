import { setTimeout as delay } from 'node:timers/promises';
import type { OfferedJob } from './contender.js';
import { contender } from './contenders.js';
import { type Errors, errorsOf, type JudgedPromise } from './errors.js';
import { population, SKEW } from './population.js';
import { Random } from './random.js';

/** Slots, and how long a job holds one: in the mean 20 ms, lognormal, so 500 jobs a second in all. */
const SLOTS = 10;
const SERVICE_MS = 20;
const SIGMA = 1;
/** Arrivals as parts of what can be served, by turns: more than fits, then less. */
const LOADS = [1.4, 0.5] as const;
const TURN_MS = 5000;

export interface PromisedOptions {
  readonly tenants: number;
  readonly seconds: number;
}

/**
 * Starts against what the door promised, while load goes up and down around what the workers can do; no tenant has a rate of
 * its own, and a heavy one sends a hundred times as much as a light one.
 */
export async function benchPromised(
  socketPath: string,
  { tenants, seconds }: PromisedOptions,
): Promise<Readonly<Record<string, Errors>>> {
  const random = new Random(20_250_103);
  const { light, heavy, all } = population(tenants);
  const startedAt = new Map<number, number>();
  const judged: JudgedPromise[] = [];
  const running = await contender('Headgate')({
    ...{ socketPath, slots: SLOTS, tenants: all },
    run: async ({ number }) => {
      startedAt.set(number, performance.now());
      await delay(random.lognormal(SERVICE_MS, SIGMA));
    },
  });
  const add = async (job: OfferedJob): Promise<void> => {
    const [promise] = await running.add([job]);
    if (promise) judged.push({ number: job.number, answeredAt: performance.now(), promise });
  };
  await running.work();
  const heavyPart = (heavy.length * SKEW) / (heavy.length * SKEW + light.length);
  const perMs = SLOTS / SERVICE_MS;
  const sending: Promise<void>[] = [];
  const beganAt = performance.now();
  for (let at = 0; at < seconds * 1000; ) {
    const load = LOADS[Math.floor(at / TURN_MS) % LOADS.length] ?? 1;
    at += random.exponential(1 / (perMs * load));
    const early = beganAt + at - performance.now();
    if (early > 0) await delay(early);
    const of = random.uniform() < heavyPart ? heavy : light;
    const tenant = of[Math.floor(random.uniform() * of.length)] ?? '';
    sending.push(add({ tenant, number: sending.length }));
  }
  await Promise.all(sending);
  while (startedAt.size < sending.length) await delay(50);
  await running.stop();
  return errorsOf(judged, startedAt);
}
