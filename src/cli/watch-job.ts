import { type EndedJob, hasEnded, type Job, type JobEvent } from '../client/index.js';
import { eventLine } from './job-lines.js';
import type { Remote } from './remote.js';

/** Where a job is watched. */
export interface Screen {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

const CLEAR_LINE = '\r\x1b[K';
const BAR_CELLS = 24;

/**
 * Follows a job to its end. A terminal has one line that says how things are, above it the output as it comes; elsewhere each
 * event is a line.
 */
export async function watchJob(remote: Remote, id: string, screen: Screen): Promise<EndedJob | null> {
  const isLive = screen.isTTY === true && !remote.json;
  let shown = '';
  let column = 0;
  const stand = (text: string): void => {
    shown = text;
    screen.write(`${CLEAR_LINE}${shown}`);
  };
  for await (const event of remote.client.stream(id)) {
    if (remote.json) screen.write(`${JSON.stringify(event)}\n`);
    else if (!isLive) column = plain(screen, event, column);
    else if (event.event === 'output') screen.write(`${CLEAR_LINE}${eventLine(event).replace(/\n?$/, '\n')}${shown}`);
    else if (event.event === 'end') screen.write(`${CLEAR_LINE}${eventLine(event)}\n`);
    else stand(event.event === 'progress' ? progressLine(event.progress) : eventLine(event));
    if (event.event === 'end') return event.job;
  }
  return null;
}

/** Text that a handler emits is written as it comes; every other event begins a line. Answers the column. */
function plain(screen: Screen, event: JobEvent, column: number): number {
  const text = eventLine(event);
  if (event.event === 'output' && typeof event.chunk === 'string') {
    screen.write(text);
    return text.endsWith('\n') || text === '' ? 0 : 1;
  }
  screen.write(`${column === 0 ? '' : '\n'}${text}\n`);
  return 0;
}

/** A share (0 to 1, or 0 to 100) as a bar, anything else as it is. */
export function progressLine(progress: unknown): string {
  if (typeof progress !== 'number' || !(progress >= 0 && progress <= 100))
    return `progress ${JSON.stringify(progress)}`;
  const share = progress <= 1 ? progress : progress / 100;
  const full = Math.round(share * BAR_CELLS);
  return `[${'='.repeat(full)}${' '.repeat(BAR_CELLS - full)}] ${Math.round(share * 100)} %`;
}

/** Exit code of a command that saw a job end: 0 when it completed. */
export function codeOfEnd(job: Job | null): number {
  return job !== null && (job.state === 'completed' || !hasEnded(job)) ? 0 : 1;
}
