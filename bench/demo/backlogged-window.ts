import type { ServedJob, Window } from './served-job.js';

/**
 * The longest stretch in which every tenant had something waiting at every instant: only there is there a fair share to
 * speak of. `undefined` when there is none.
 */
export function backloggedWindow(
  tenants: readonly string[],
  jobs: readonly ServedJob[],
  untilMs: number,
): Window | undefined {
  const waiting = new Map(tenants.map((tenant) => [tenant, 0]));
  let longest: Window | undefined;
  let fromMs: number | undefined;
  const closeAt = (atMs: number): void => {
    if (fromMs !== undefined && atMs - fromMs > lengthMs(longest)) longest = { fromMs, untilMs: atMs };
    fromMs = undefined;
  };
  for (const { atMs, tenant, change } of changes(jobs, untilMs)) {
    const before = waiting.get(tenant);
    if (before === undefined) continue;
    waiting.set(tenant, before + change);
    const all = [...waiting.values()].every((count) => count > 0);
    if (all) fromMs ??= atMs;
    else closeAt(atMs);
  }
  closeAt(untilMs);
  return longest;
}

interface Change {
  readonly atMs: number;
  readonly tenant: string;
  readonly change: 1 | -1;
}

/** Arrivals and starts in order of time. Of those in the same millisecond arrivals come first: they did not leave a gap. */
function changes(jobs: readonly ServedJob[], untilMs: number): Change[] {
  const all: Change[] = [];
  for (const { tenant, admittedAtMs, startedAtMs } of jobs) {
    all.push({ atMs: admittedAtMs, tenant, change: 1 });
    if (startedAtMs !== null) all.push({ atMs: startedAtMs, tenant, change: -1 });
  }
  return all.filter(({ atMs }) => atMs < untilMs).sort((a, b) => a.atMs - b.atMs || b.change - a.change);
}

function lengthMs(window: Window | undefined): number {
  return window === undefined ? 0 : window.untilMs - window.fromMs;
}
