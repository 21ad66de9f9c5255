import { setTimeout as pause } from 'node:timers/promises';
import type { Screen } from './watch-job.js';

const EVERY_MS = 1000;

/** A screen, and how much fits on it where it is a terminal. */
export interface TableScreen extends Screen {
  readonly rows?: number;
  readonly columns?: number;
}

/**
 * Shows a table that changes, until it is told to stop: a terminal has it in one place and draws it anew when it is another, as
 * much of it as fits; elsewhere a line is written when it was not in the table before.
 *
 * @param read The lines of the table as it is now.
 */
export async function followTable(
  read: () => Promise<readonly string[]>,
  screen: TableScreen,
  { stop, everyMs = EVERY_MS }: { readonly stop: AbortSignal; readonly everyMs?: number },
): Promise<void> {
  let shown: readonly string[] = [];
  while (!stop.aborted) {
    const lines = screen.isTTY === true ? fitting(await read(), screen) : await read();
    const fresh = screen.isTTY === true ? lines : lines.filter((line) => !shown.includes(line));
    if (lines.join('\n') !== shown.join('\n')) {
      const above = screen.isTTY === true && shown.length > 0 ? `\x1b[${shown.length}A\x1b[J` : '';
      screen.write(`${above}${fresh.map((line) => `${line}\n`).join('')}`);
      shown = lines;
    }
    await pause(everyMs, undefined, { signal: stop }).catch(() => undefined);
  }
}

/** A line that is too long would become two, and one too many push the first off the screen. */
function fitting(lines: readonly string[], { rows = Infinity, columns = Infinity }: TableScreen): readonly string[] {
  return lines.slice(0, rows - 1).map((line) => line.slice(0, columns - 1));
}
