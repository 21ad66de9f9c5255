import { textField } from '../referee/json-field.js';
import type { StartEvent, Trace } from '../referee/trace.js';
import type { Blow } from './blow.js';

/** A job whose run a killed worker took with it, until it ran again. */
export interface TakenUp {
  readonly job: string;
  readonly ms: number;
  /** Starts of its bucket that went before it meanwhile: of a more urgent priority, or other ones once it waited again. */
  readonly urgentBefore: number;
  readonly othersBefore: number;
  /** The longest time in which nothing of its bucket started meanwhile. */
  readonly longestPauseMs: number;
}

/** Runs beyond the first that no failure of the handler asked for. */
export interface SecondRuns {
  readonly jobs: number;
  /** How many, by the fault within which the run before had begun or ended. */
  readonly byFault: Readonly<Record<string, number>>;
  readonly takenUp: readonly TakenUp[];
}

/** A lock that nobody renews is over, and looked for, within this long. */
const AFTERMATH_MS = 6000;
/** Instants of two processes are the same within this. */
const SAME_INSTANT_MS = 100;

/** Why jobs ran again, as far as the referee saw. */
export function secondRuns(trace: Trace, blows: readonly Blow[]): SecondRuns {
  const outcomes = new Map<number, { readonly outcome: string; readonly at: number }>();
  const starts = new Map<string, StartEvent[]>();
  const priorities = new Map<string, number>();
  for (const event of trace) {
    if (event.kind === 'end') outcomes.set(event.run, { outcome: event.outcome, at: event.at });
    else if (event.kind === 'gone') outcomes.set(event.run, { outcome: 'gone', at: event.at });
    else if (event.kind === 'start') starts.set(event.job, [...(starts.get(event.job) ?? []), event]);
    else if (event.kind === 'admission') priorities.set(textField(event.body, 'id') ?? '', event.priority);
  }
  /** A job between its run that was cut off and the next one, and who of its bucket started in between. */
  const takenUpBy = (run: StartEvent, goneAt: number): TakenUp => {
    const between = [...starts.values()]
      .flat()
      .filter(({ at, type, tenant }) => type === run.type && tenant === run.tenant && at > goneAt && at < run.at)
      .toSorted((a, b) => a.at - b.at);
    const isUrgent = ({ job }: StartEvent) => (priorities.get(job) ?? 0) < (priorities.get(run.job) ?? 0);
    const instants = [goneAt, ...between.map(({ at }) => at), run.at];
    return {
      job: run.job,
      ms: run.at - goneAt,
      urgentBefore: between.filter(isUrgent).length,
      othersBefore: between.filter((other) => !isUrgent(other) && other.at > goneAt + AFTERMATH_MS).length,
      longestPauseMs: Math.max(...instants.slice(1).map((at, place) => at - (instants[place] ?? at))),
    };
  };
  const byFault: Record<string, number> = {};
  const takenUp: TakenUp[] = [];
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
      if (why === 'worker killed' && end?.outcome === 'gone') takenUp.push(takenUpBy(run, end.at));
    }
  }
  return { jobs, byFault, takenUp };
}
