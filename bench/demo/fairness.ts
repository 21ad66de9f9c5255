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
 * Compares what each tenant was served in a window, in which all had jobs waiting, with what it deserves: the weighted
 * max-min fair division of what was served in all, nobody above its own rate.
 */
export function fairness(
  entitlements: readonly Entitlement[],
  jobs: readonly ServedJob[],
  window: Window,
  slots: number,
): Fairness {
  const seconds = (window.untilMs - window.fromMs) / 1000;
  const served = entitlements.map(({ tenant }) =>
    costStarted(
      jobs.filter((job) => job.tenant === tenant),
      window,
    ),
  );
  const total = served.reduce((sum, cost) => sum + cost, 0);
  const deserved = waterFilling(
    total / seconds,
    entitlements.map(({ weight, ratePerSecond }) => ({ weight, limit: ratePerSecond })),
  );
  const tenants = entitlements.map(({ tenant, ratePerSecond }, index) => {
    const servedPerSecond = (served[index] ?? 0) / seconds;
    const deservedPerSecond = deserved[index] ?? 0;
    const boundBy = deservedPerSecond === ratePerSecond ? ('rate' as const) : ('share' as const);
    return { tenant, servedPerSecond, deservedPerSecond, boundBy, offBy: servedPerSecond / deservedPerSecond - 1 };
  });
  return {
    seconds,
    servedPerSecond: total / seconds,
    slotsBusy: busyMs(jobs, window) / (slots * 1000 * seconds),
    tenants,
  };
}
