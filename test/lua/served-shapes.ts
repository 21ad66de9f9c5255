import type { Coming, ServedWorkload } from './served-shard.js';

const SECOND = 1e6;
const MEAN_US = 0.2 * SECOND;
const FREE = { ratePerSecond: Infinity, depth: 40 };
const TENANTS = [...'abcdefghij'];
const HUNDRED = Array.from({ length: 100 }, (_, i) => TENANTS[i] ?? `t${i}`);
/** 1, 2, 4, 8, 1, … */
const weightOf = (tenant: string): number => 2 ** (TENANTS.indexOf(tenant) % 4);

/** Numbers from 0 to 1 that are the same in every run (mulberry32). */
function randomBy(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Poisson arrivals of all tenants, by what each offers at an instant (jobs per second), with lognormal service times. */
function coming(
  seed: number,
  seconds: number,
  offered: (tenant: string, second: number) => number,
  more: (random: () => number) => Partial<Coming> = () => ({}),
  tenants: readonly string[] = TENANTS,
): Coming[] {
  const random = randomBy(seed);
  const normal = (): number => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  // Sigma 1: a job in twenty takes five times as long as half of them.
  const serviceUs = (): number => Math.round(MEAN_US * Math.exp(normal() - 0.5));
  const most = 40;
  return tenants
    .flatMap((tenant) => {
      const jobs: Coming[] = [];
      for (let at = 0; at < seconds; at += -Math.log(1 - random()) / most) {
        if (random() * most < offered(tenant, at)) {
          jobs.push({ atUs: Math.round(at * SECOND), tenant, serviceUs: serviceUs(), ...more(random) });
        }
      }
      return jobs;
    })
    .sort((one, other) => one.atUs - other.atUs);
}

/** Four slots serve 20 jobs a second. */
export const SHAPES: Record<string, ServedWorkload> = {
  'steady, at three times what workers bear, by weight': {
    slots: 4,
    profile: (tenant) => ({ ...FREE, weight: weightOf(tenant) }),
    jobs: coming(1, 120, () => 6),
  },
  'on and off': {
    slots: 4,
    profile: () => FREE,
    jobs: coming(2, 240, (_, second) => (second % 40 < 15 ? 5 : 0.3)),
  },
  'a number of active tenants that changes': {
    slots: 4,
    profile: (tenant) => ({ ...FREE, weight: weightOf(tenant) }),
    jobs: coming(3, 200, (tenant, second) => (TENANTS.indexOf(tenant) <= (second / 12) % 10 ? 8 : 0)),
  },
  'costs from 1 to 20': {
    slots: 4,
    profile: (tenant) => ({ ...FREE, weight: weightOf(tenant) }),
    jobs: coming(
      4,
      120,
      () => 4,
      (random) => ({ cost: Math.ceil(20 * random()) }),
    ),
  },
  'a light tenant among heavy ones': {
    slots: 4,
    profile: () => FREE,
    jobs: coming(5, 150, (tenant) => (tenant === 'a' ? 1 : 6)),
  },
  'rates of their own, and workers too few': {
    slots: 4,
    profile: (tenant) => ({ ...FREE, ratePerSecond: weightOf(tenant), burst: 3 }),
    jobs: coming(6, 150, () => 4),
  },
  "the type's rate, shared, with slots enough": {
    slots: 100,
    capacity: { emissionUs: SECOND / 15, burst: 5 },
    profile: (tenant) => ({ ...FREE, weight: weightOf(tenant) }),
    jobs: coming(7, 150, () => 3),
  },
  'concurrency of their own': {
    slots: 100,
    profile: () => ({ ...FREE, concurrency: 2 }),
    jobs: coming(8, 100, () => 12),
  },
  'a flood from one, while load turns around what workers bear': {
    slots: 4,
    profile: () => ({ ...FREE, depth: 10_000 }),
    jobs: coming(10, 240, (tenant, second) => (second % 40 < 20 ? 1.4 : 0.5) * (tenant === 'a' ? 18 : 0.2)),
  },
  'a hundred tenants, one as busy as all others, while load turns around what workers bear': {
    slots: 4,
    profile: () => ({ ...FREE, depth: 10_000 }),
    jobs: coming(
      11,
      1000,
      (tenant, second) => (second % 250 < 125 ? 1.4 : 0.5) * (tenant === 'a' ? 10 : 10 / (HUNDRED.length - 1)),
      undefined,
      HUNDRED,
    ),
  },
  'three priorities': {
    slots: 4,
    profile: () => FREE,
    jobs: coming(
      9,
      150,
      () => 3,
      (random) => ({ priority: Math.floor(3 * random()) }),
    ),
  },
};
