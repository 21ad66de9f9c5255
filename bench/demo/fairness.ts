import { busyMs, costStarted, type ServedJob, type Window } from './served-job.js';
import { waterFilling } from './water-filling.js';

/** What a tenant is entitled to. */
export interface Entitlement {
  readonly tenant: string;
  readonly weight: number;
  /** Cost units per second; `Infinity` for no limit but the fair share. */
  readonly ratePerSecond: number;
}

/** What a tenant got within a window, beside what it should have got. Rates are cost units per second. */
export interface TenantVerdict {
  readonly tenant: string;
  readonly servedPerSecond: number;
  /** The lesser of its rate and its fair share of what was served to all. */
  readonly deservedPerSecond: number;
  /** `rate` when its own rate is the lesser one, `share` when the fair share is. */
  readonly boundBy: 'rate' | 'share';
  /** Served over deserved, minus one: 0.02 is two percent too much. */
  readonly offBy: number;
}

export interface Fairness {
  readonly seconds: number;
  readonly servedPerSecond: number;
  /** The part of the slots' time in which they ran a job, 0 to 1. */
  readonly slotsBusy: number;
  readonly tenants: readonly TenantVerdict[];
}

/**
 * What the workers do per second changes during a run, and a tenant bound by its rate in one moment may be bound by its
 * share in the next; so what is deserved is reckoned for slices of this length and added up.
 */
const SLICE_MS = 10_000;

/**
 * Compares what each tenant was served in a window, in which all had jobs waiting, with what it deserves: the weighted
 * max-min fair division of what was served in all, nobody above its own rate.
 */
export function fairness(
  entitlements: readonly Entitlement[],
  jobs: readonly ServedJob[],
  window: Window,
  slots: number,
): Fairness {
  const seconds = lengthSeconds(window);
  const total = costStarted(jobs, window);
  const slices = slicesOf(window).map((slice) => deservedCosts(entitlements, jobs, slice));
  const tenants = entitlements.map(({ tenant, ratePerSecond }, index) => {
    const ofTenant = jobs.filter((job) => job.tenant === tenant);
    const deserved = slices.reduce((sum, costs) => sum + (costs[index] ?? 0), 0);
    const servedPerSecond = costStarted(ofTenant, window) / seconds;
    const deservedPerSecond = deserved / seconds;
    const boundBy = deservedPerSecond >= ratePerSecond - 1e-9 ? ('rate' as const) : ('share' as const);
    return { tenant, servedPerSecond, deservedPerSecond, boundBy, offBy: servedPerSecond / deservedPerSecond - 1 };
  });
  const slotsBusy = busyMs(jobs, window) / (slots * 1000 * seconds);
  return { seconds, servedPerSecond: total / seconds, slotsBusy, tenants };
}

/** Cost that each tenant deserves within the slice. */
function deservedCosts(entitlements: readonly Entitlement[], jobs: readonly ServedJob[], slice: Window): number[] {
  const claims = entitlements.map(({ weight, ratePerSecond }) => ({
    weight,
    limit: ratePerSecond * lengthSeconds(slice),
  }));
  return waterFilling(costStarted(jobs, slice), claims);
}

/** The window in equal slices of about {@link SLICE_MS}. */
function slicesOf({ fromMs, untilMs }: Window): Window[] {
  const count = Math.max(1, Math.round((untilMs - fromMs) / SLICE_MS));
  const boundary = (n: number): number => fromMs + ((untilMs - fromMs) * n) / count;
  return Array.from({ length: count }, (_, n) => ({ fromMs: boundary(n), untilMs: boundary(n + 1) }));
}

function lengthSeconds({ fromMs, untilMs }: Window): number {
  return (untilMs - fromMs) / 1000;
}
