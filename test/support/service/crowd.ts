import type { Random } from '../../../bench/fairness/random.js';
import { grouped } from '../../referee/grouped.js';
import type { ServedJob, Service, ServiceArrival } from './simulate-service.js';

/** Tenants of unlike weights and costs, all of whom want more than there is. */
export interface Crowd {
  readonly tenants: number;
  /** Taken in turn by the tenants. */
  readonly weights: readonly number[];
  /** What the jobs of a tenant cost on the average, taken in turn. */
  readonly meanCosts: readonly number[];
  readonly slots: number;
  /** Mean of the lognormal time that one unit takes, and σ of its logarithm. */
  readonly unitUs: number;
  readonly spread: number;
  /** Cost that is asked for, over cost that can be served. */
  readonly overcommitment: number;
  /** The second half of the tenants come at this instant, the first at the beginning. */
  readonly newcomersAtUs: number;
  readonly untilUs: number;
}

/** Jobs of one call. */
const HEAP = 10;
/** What a tenant has waiting as it comes, in heaps. */
const FIRST_HEAPS = 3;

/** A crowd as a service to be simulated; every tenant asks for the same part of the capacity, at random instants. */
export function crowdService(
  crowd: Crowd,
  random: Random,
): Service & { readonly weights: ReadonlyMap<string, number> } {
  const names = Array.from({ length: crowd.tenants }, (_, i) => `tenant-${String(i).padStart(5, '0')}`);
  const weights = new Map(names.map((name, i) => [name, inTurn(crowd.weights, i)]));
  const unitsPerUs = (crowd.overcommitment * crowd.slots) / crowd.unitUs / crowd.tenants;
  const arrivals = names.flatMap((tenant, i): ServiceArrival[] => {
    const mean = inTurn(crowd.meanCosts, i);
    const heap = () =>
      Array.from({ length: HEAP }, () => ({ cost: Math.max(1, Math.round(mean * 2 * random.uniform())) }));
    const fromUs = i * 2 < crowd.tenants ? 0 : crowd.newcomersAtUs;
    const found = Array.from({ length: FIRST_HEAPS }, () => ({ atUs: fromUs, tenant, jobs: heap() }));
    for (let atUs = fromUs; ; ) {
      atUs += Math.ceil(random.exponential((HEAP * mean) / unitsPerUs));
      if (atUs > crowd.untilUs) return found;
      found.push({ atUs, tenant, jobs: heap() });
    }
  });
  return {
    weights,
    profiles: Object.fromEntries(
      names.map((name) => [name, { ratePerSecond: Infinity, depth: 1e6, weight: weights.get(name) ?? 1 }]),
    ),
    arrivals: arrivals.sort((one, other) => one.atUs - other.atUs),
    slots: crowd.slots,
    serviceUs: ({ cost }) => Math.ceil(cost * random.lognormal(crowd.unitUs, crowd.spread)),
    untilUs: crowd.untilUs,
  };
}

/** Cost that started within a window over its tenant's weight, of each tenant of which something waited all the time. */
export function sharesOfTheReady(
  jobs: readonly ServedJob[],
  weights: ReadonlyMap<string, number>,
  window: { readonly fromUs: number; readonly toUs: number },
): ReadonlyMap<string, number> {
  const ofTenant = grouped(jobs, ({ tenant }) => tenant);
  const ready = [...weights].filter(([tenant]) => waitsThroughout(ofTenant.get(tenant) ?? [], window));
  return new Map(
    ready.map(([tenant, weight]) => {
      const started = (ofTenant.get(tenant) ?? []).filter(({ startedAtUs = Infinity }) => {
        return startedAtUs >= window.fromUs && startedAtUs < window.toUs;
      });
      return [tenant, started.reduce((sum, { cost }) => sum + cost, 0) / weight];
    }),
  );
}

/** Whether at every instant of the window some job had come and not started. */
function waitsThroughout(jobs: readonly ServedJob[], { fromUs, toUs }: { fromUs: number; toUs: number }): boolean {
  let coveredUs = fromUs;
  for (const { arrivedAtUs, startedAtUs = Infinity } of jobs) {
    if (arrivedAtUs > coveredUs) return false;
    coveredUs = Math.max(coveredUs, startedAtUs);
    if (coveredUs >= toUs) return true;
  }
  return false;
}

function inTurn(values: readonly number[], i: number): number {
  return values[i % values.length] ?? 1;
}
