import type { Entitlement } from './fairness.js';
import type { JobBook } from './job-book.js';
import { liveTable } from './live-rows.js';
import { pace, repeat } from './pace.js';
import type { Page } from './pages.js';
import type { TerminalDisplay } from './terminal-display.js';

/** A tenant of the demo: what it is entitled to, what it does, and its jobs. */
export interface DemoTenant {
  readonly entitlement: Entitlement;
  readonly offeredPerSecond: number;
  readonly book: JobBook;
}

const REFRESH_EVERY_MS = 150;
const SHOW_EVERY_MS = 500;

/**
 * What each tenant sends per second, so that together they want three times what the workers can do: gold half as much
 * again as its own rate allows, the flood most of all, whatever it is entitled to.
 */
export function offeredLoad(serviceRate: number, goldRate: number): { gold: number; silver: number; flood: number } {
  const gold = 1.5 * goldRate;
  const silver = 0.9 * serviceRate;
  return { gold, silver, flood: Math.max(silver, 3 * serviceRate - gold - silver) };
}

/** Lets all tenants send until `signal` aborts, reads what becomes of their jobs and shows it. */
export async function run(
  tenants: readonly DemoTenant[],
  pages: readonly Page[],
  display: TerminalDisplay,
  signal: AbortSignal,
): Promise<void> {
  const startedAtMs = Date.now();
  const failed = new AbortController();
  const either = AbortSignal.any([signal, failed.signal]);
  const show = (): void => {
    const nowMs = Date.now();
    const rows = tenants.map(({ entitlement, book }) => ({
      ...entitlement,
      jobs: book.jobs,
      refused: book.refused,
      nextStartAtMs: book.nextStartAtMs,
    }));
    const seconds = Math.round((nowMs - startedAtMs) / 1000);
    display.show([`after ${seconds} s`, ...liveTable(rows, startedAtMs, nowMs)]);
  };
  const activities = [
    ...tenants.map(({ offeredPerSecond, book }) =>
      pace(offeredPerSecond, either, async (n) => {
        const page = pages[n % pages.length];
        if (page !== undefined) await book.send(page);
      }),
    ),
    ...tenants.map(({ book }) => repeat(REFRESH_EVERY_MS, either, () => book.refresh())),
    repeat(SHOW_EVERY_MS, either, async () => show()),
  ];
  await Promise.all(activities.map((activity) => activity.catch((error: unknown) => failed.abort(error))));
  if (failed.signal.aborted) throw failed.signal.reason;
  await Promise.all(tenants.map(({ book }) => book.refresh()));
  show();
}
