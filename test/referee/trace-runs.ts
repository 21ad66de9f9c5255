import type { Run, SurplusEnd } from './case-file.js';
import type { EndEvent, GoneEvent, Trace } from './trace.js';

/** A run, and the bucket in which its handler said it was. */
export interface PlacedRun {
  readonly run: Run;
  readonly type: string;
  readonly tenant: string;
}

/**
 * Every run in the order of the starts, each with its end. `costs` holds what clients know of a job's cost; it wins over
 * what the handler was told, so that a job charged too little is seen. Ends too many come apart.
 */
export function traceRuns(
  trace: Trace,
  costs: ReadonlyMap<string | undefined, number | undefined>,
): { readonly runs: readonly PlacedRun[]; readonly surplusEnds: readonly SurplusEnd[] } {
  const ends = new Map<number, EndEvent | GoneEvent>();
  const surplus: EndEvent[] = [];
  for (const event of trace) {
    if (event.kind !== 'end' && event.kind !== 'gone') continue;
    const known = ends.get(event.run);
    // A broken connection says nothing more about a run that a handler ended, nor does it end one twice.
    if (known === undefined || known.kind === 'gone') ends.set(event.run, event);
    else if (event.kind === 'end') surplus.push(event);
  }
  const runs = trace
    .filter((event) => event.kind === 'start')
    .sort((a, b) => a.at - b.at)
    .map((event): PlacedRun => {
      const end = ends.get(event.run);
      const run: Run = {
        run: event.run,
        job: event.job,
        attempt: event.attempt,
        startAt: event.at,
        cost: costs.get(event.job) ?? event.cost,
        endAt: end?.at ?? null,
        outcome: end === undefined ? null : end.kind === 'gone' ? 'gone' : end.outcome,
      };
      return { run, type: event.type, tenant: event.tenant };
    });
  const byNumber = new Map(runs.map(({ run }) => [run.run, run]));
  const unstarted = [...ends.values()].filter((end) => end.kind === 'end' && !byNumber.has(end.run));
  const surplusEnds = [...surplus, ...unstarted].map(({ run, at }) => ({ run: byNumber.get(run) ?? null, at }));
  return { runs, surplusEnds };
}
