import { setTimeout as delay } from 'node:timers/promises';
import { quantile } from '../statistics.js';
import type { OfferedJob } from './contender.js';
import { contender } from './contenders.js';
import { type Errors, errorsOf, type JudgedPromise } from './errors.js';
import { population, SKEW } from './population.js';
import { Random } from './random.js';

/** More slots than can be needed, and what a job does with one. */
const SLOTS = 250;
const SERVICE_MS = 5;
/** Of all tenants together, units per second. */
const TOTAL_RATE = 250;
/** What a light tenant asks for, as a part of its rate. */
const LOAD = 0.5;
/** A start before its ideal instant by no more than this is not called early: clocks and timers are read in whole milliseconds. */
const EARLY_MS = 25;
const CHUNK = 1000;

export interface PacedOptions {
  readonly contender: string;
  readonly tenants: number;
  readonly seconds: number;
}

/** Starts against the ideal schedule of each tenant's own rate. Milliseconds. */
export interface Paced {
  readonly starts: number;
  /** Starts more than 25 ms before their ideal instant, as a part of all. */
  readonly early: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  /** The same of the light tenants alone. */
  readonly lightP99Ms: number;
  /** Jobs whose ideal start lay in the run and that had not started half a second after its end. */
  readonly missing: number;
  readonly promises: Readonly<Record<string, Errors>>;
}

/**
 * Every tenant has the same rate and slots are free. A heavy one floods its bucket at the start with a hundred times what
 * each light one sends in the whole run; those send at random instants, half of what their rate allows.
 *
 * The ideal start of a job is max(its arrival, the ideal start of the one before + 1/rate).
 */
export async function benchPaced(socketPath: string, options: PacedOptions): Promise<Paced> {
  const random = new Random(20_250_102);
  const { light, heavy, all } = population(options.tenants);
  const ratePerSecond = TOTAL_RATE / all.length;
  const arrivals = new Map<number, { tenant: string; at: number }>();
  const startedAt = new Map<number, number>();
  const judged: JudgedPromise[] = [];
  const running = await contender(options.contender)({
    ...{ socketPath, slots: SLOTS, tenants: all, ratePerSecond },
    run: async ({ number }) => {
      startedAt.set(number, performance.now());
      await delay(SERVICE_MS);
    },
  });
  const add = async (tenants: readonly string[]): Promise<void> => {
    const at = performance.now();
    const jobs: OfferedJob[] = tenants.map((tenant) => {
      const number = arrivals.size;
      arrivals.set(number, { tenant, at });
      return { tenant, number };
    });
    const promises = await running.add(jobs);
    const answeredAt = performance.now();
    for (const [i, promise] of promises.entries()) judged.push({ number: jobs[i]?.number ?? -1, answeredAt, promise });
  };

  await running.work();
  const flood = Math.ceil(LOAD * ratePerSecond * options.seconds * SKEW);
  for (const tenant of heavy) {
    for (let i = 0; i < flood; i += CHUNK) await add(Array.from({ length: Math.min(CHUNK, flood - i) }, () => tenant));
  }
  const beganAt = performance.now();
  await sendLight(light, LOAD * ratePerSecond * light.length, options.seconds * 1000, random, add);
  const endedAt = performance.now();
  await delay(500);
  await running.stop();
  const errors = errorsOf(judged, startedAt);
  return { ...againstIdeal(arrivals, startedAt, 1000 / ratePerSecond, [beganAt, endedAt]), promises: errors };
}

/** Sends jobs of random tenants at the instants of a Poisson process, for so many milliseconds. */
async function sendLight(
  tenants: readonly string[],
  perSecond: number,
  forMs: number,
  random: Random,
  add: (tenants: readonly string[]) => Promise<void>,
): Promise<void> {
  const beganAt = performance.now();
  const sending: Promise<void>[] = [];
  for (let at = random.exponential(1000 / perSecond); at < forMs; at += random.exponential(1000 / perSecond)) {
    const early = beganAt + at - performance.now();
    if (early > 0) await delay(early);
    sending.push(add([tenants[Math.floor(random.uniform() * tenants.length)] ?? '']));
  }
  await Promise.all(sending);
}

/** Starts against the ideal, of what should start from `beganAt` to `endedAt`. */
function againstIdeal(
  arrivals: ReadonlyMap<number, { readonly tenant: string; readonly at: number }>,
  startedAt: ReadonlyMap<number, number>,
  intervalMs: number,
  [beganAt, endedAt]: readonly [number, number],
): Omit<Paced, 'promises'> {
  const next = new Map<string, number>();
  const lateness: number[] = [];
  const ofLight: number[] = [];
  let missing = 0;
  for (const [number, { tenant, at }] of arrivals) {
    const ideal = Math.max(at, next.get(tenant) ?? 0);
    next.set(tenant, ideal + intervalMs);
    if (ideal < beganAt || ideal > endedAt) continue;
    const start = startedAt.get(number);
    if (start === undefined) missing += 1;
    const late = (start ?? endedAt + 500) - ideal;
    lateness.push(late);
    if (tenant.startsWith('light')) ofLight.push(late);
  }
  return {
    starts: lateness.length - missing,
    early: lateness.filter((late) => late < -EARLY_MS).length / lateness.length,
    p50Ms: quantile(lateness, 0.5),
    p99Ms: quantile(lateness, 0.99),
    maxMs: Math.max(...lateness),
    lightP99Ms: quantile(ofLight, 0.99),
    missing,
  };
}
