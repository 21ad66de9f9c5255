import type { JobBook } from './job-book.js';
import { repeat } from './pace.js';
import type { Page } from './pages.js';
import type { ServedJob } from './served-job.js';

/** Pages read for the calibration, the first ones not counted. */
const PAGES = 16;

/**
 * Measures how many pages a second the workers read together, by having some read through the whole system.
 * @throws Error when a page was not read.
 */
export async function measureServiceRate(
  book: JobBook,
  pages: readonly Page[],
  slots: number,
  signal: AbortSignal,
): Promise<number> {
  for (let n = 0; n < PAGES; n += 1) {
    const page = pages[n % pages.length];
    if (page !== undefined) await book.send(page);
  }
  await repeat(100, signal, async () => {
    await book.refresh();
    return book.jobs.every(({ endedAtMs }) => endedAtMs !== null) ? 'done' : 'again';
  });
  signal.throwIfAborted();
  const failed = book.jobs.find(({ state }) => state !== 'completed');
  if (book.refused > 0) throw new Error('calibration: the door refused a page');
  if (failed !== undefined) throw new Error(`calibration: ${failed.page.file} ${failed.state}: ${failed.error}`);
  return completionsPerSecond(book.jobs, 2 * slots);
}

/**
 * Jobs that ended per second, the first `warmUp` ends not counted: there the workers open their engines.
 * @throws Error when there are too few ends to tell.
 */
export function completionsPerSecond(jobs: readonly ServedJob[], warmUp: number): number {
  const ends = jobs.flatMap(({ endedAtMs }) => (endedAtMs === null ? [] : [endedAtMs])).sort((a, b) => a - b);
  const [first, last] = [ends[warmUp - 1], ends.at(-1)];
  if (first === undefined || last === undefined || last <= first) throw new Error('too few jobs ended to tell a rate');
  return (1000 * (ends.length - warmUp)) / (last - first);
}
