import type { StartEvent, Trace } from '../referee/trace.js';
import type { Blow } from './blow.js';

/** Runs beyond the first that no failure of the handler asked for. */
export interface SecondRuns {
  readonly jobs: number;
  /** How many, by the fault within which the run before had begun or ended. */
  readonly byFault: Readonly<Record<string, number>>;
  /** Milliseconds from the blow that ended a run until the same job ran again, of killed workers. */
  readonly takenUpMs: readonly number[];
}

/** A lock that nobody renews is over, and looked for, within this long. */
const AFTERMATH_MS = 6000;
/** Instants of two processes are the same within this. */
const SAME_INSTANT_MS = 100;

/** Why jobs ran again, as far as the referee saw. */
export function secondRuns(trace: Trace, blows: readonly Blow[]): SecondRuns {
  const outcomes = new Map<number, { readonly outcome: string; readonly at: number }>();
  const starts = new Map<string, StartEvent[]>();
  for (const event of trace) {
    if (event.kind === 'end') outcomes.set(event.run, { outcome: event.outcome, at: event.at });
    else if (event.kind === 'gone') outcomes.set(event.run, { outcome: 'gone', at: event.at });
    else if (event.kind === 'start') starts.set(event.job, [...(starts.get(event.job) ?? []), event]);
  }
  const byFault: Record<string, number> = {};
  const takenUpMs: number[] = [];
  let jobs = 0;
  for (const runs of starts.values()) {
    const unasked = runs.slice(1).flatMap((run, place) => {
      const before = runs[place];
      const end = before && outcomes.get(before.run);
      return before !== undefined && end?.outcome !== 'failed' ? [{ before, run, end }] : [];
    });
    if (unasked.length > 0) jobs += 1;
    for (const { before, run, end } of unasked) {
      // The last blow before the run was cut off or, where nobody saw that, before the next one began.
      const lostAt = end?.outcome === 'gone' ? end.at : run.at;
      const blow = blows.findLast(({ from }) => from <= lostAt + SAME_INSTANT_MS);
      const isNear = blow !== undefined && blow.to + AFTERMATH_MS >= before.at;
      const why = isNear ? blow.fault : 'no fault';
      byFault[why] = (byFault[why] ?? 0) + 1;
      if (why === 'worker killed' && end?.outcome === 'gone') takenUpMs.push(run.at - end.at);
    }
  }
  return { jobs, byFault, takenUpMs };
}
