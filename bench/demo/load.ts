import type { Entitlement } from './fairness.js';
import type { JobBook } from './job-book.js';
import { liveTable } from './live-rows.js';
import { linkedTo, pace, repeat } from './pace.js';
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
/** Each tenant begins with what it sends in this time, so that all are backlogged from the start. */
const HEAD_START_SECONDS = 5;

/**
 * What each tenant sends per second, so that together they want three times what the workers can do: gold half as much
 * again as its own rate allows, silver more than there is, the flood most of all, whatever it is entitled to.
 */
export function offeredLoad(serviceRate: number, goldRate: number): { gold: number; silver: number; flood: number } {
  const gold = 1.5 * goldRate;
  const silver = 1.2 * serviceRate;
  return { gold, silver, flood: Math.max(silver, 3 * serviceRate - gold - silver) };
}

/** How long the tenants send. */
export interface Length {
  /** At least this long. */
  readonly seconds: number;
  /** And until as many jobs of each have started, but no longer than {@link LONGEST} times as long. */
  readonly leastStarts: number;
}

const LONGEST = 5;

/** Lets all tenants send, reads what becomes of their jobs and shows it. Returns for how many seconds they sent. */
export async function run(
  tenants: readonly DemoTenant[],
  pages: readonly Page[],
  slots: number,
  length: Length,
  display: TerminalDisplay,
  signal: AbortSignal,
): Promise<number> {
  const startedAtMs = Date.now();
  const going = linkedTo(signal);
  const show = (): void => {
    const nowMs = Date.now();
    const rows = tenants.map(({ entitlement, book }) => ({
      ...entitlement,
      jobs: book.jobs,
      refused: book.refused,
      nextStartAtMs: book.nextStartAtMs,
    }));
    const seconds = Math.round((nowMs - startedAtMs) / 1000);
    display.show([`after ${seconds} s`, ...liveTable(rows, startedAtMs, nowMs, slots)]);
  };
  const activities = [
    ...tenants.map(({ offeredPerSecond, book }) =>
      pace(offeredPerSecond, HEAD_START_SECONDS * offeredPerSecond, going.signal, async (n) => {
        const page = pages[n % pages.length];
        if (page !== undefined) await book.send(page);
      }),
    ),
    ...tenants.map(({ book }) =>
      repeat(REFRESH_EVERY_MS, going.signal, async () => {
        await book.refresh();
        return 'again';
      }),
    ),
    repeat(SHOW_EVERY_MS, going.signal, async () => {
      show();
      return isLongEnough(tenants, length, Date.now() - startedAtMs) ? 'done' : 'again';
    }),
  ];
  // The first to end, in time or by a failure, ends the others too, and they have ended before a failure is told.
  const ends = await Promise.allSettled(activities.map((activity) => activity.finally(() => going.abort())));
  const sentForMs = Date.now() - startedAtMs;
  const failure = ends.find((end) => end.status === 'rejected');
  if (failure !== undefined) throw failure.reason;
  await Promise.all(tenants.map(({ book }) => book.refresh()));
  show();
  return sentForMs / 1000;
}

function isLongEnough(tenants: readonly DemoTenant[], { seconds, leastStarts }: Length, elapsedMs: number): boolean {
  const startsOf = ({ book }: DemoTenant): number => book.jobs.filter(({ startedAtMs }) => startedAtMs !== null).length;
  if (elapsedMs < 1000 * seconds) return false;
  return elapsedMs >= LONGEST * 1000 * seconds || tenants.every((tenant) => startsOf(tenant) >= leastStarts);
}
