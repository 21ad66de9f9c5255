import { shown, table } from '../markdown.js';
import { median } from '../statistics.js';
import { CONTENDERS } from './contenders.js';
import type { Errors } from './errors.js';
import type { Paced } from './paced.js';
import type { Scarce } from './share-watch.js';

/** What was measured several times, by contender and number of tenants. */
export type Runs<Result> = ReadonlyMap<string, ReadonlyMap<number, readonly Result[]>>;

/** The middle of what `read` finds in the runs; a wait without end is `null` in the answer of a child. */
export function middleOf<Result>(runs: readonly Result[], read: (result: Result) => number | null): number {
  return median(runs.map((run) => read(run) ?? Number.POSITIVE_INFINITY));
}

/** Milliseconds as a table shows them. */
function ms(value: number): string {
  if (!Number.isFinite(value)) return 'not served';
  return value >= 10_000 ? `${shown(value / 1000)} s` : `${shown(value)} ms`;
}

const percent = (part: number): string => `${shown(part * 100)} %`;

function rowsOf<Result>(runs: Runs<Result>, cells: (results: readonly Result[]) => readonly string[]): string[][] {
  return Object.keys(CONTENDERS).flatMap((name) =>
    [...(runs.get(name) ?? [])].map(([tenants, results]) => [name, tenants.toLocaleString('en'), ...cells(results)]),
  );
}

export function scarceTable(runs: Runs<Scarce>): string {
  return table(
    ['', 'tenants', 'Jain', 'least, most of an even share', 'newcomer’s wait: p50, p99', 'jobs/s'],
    ...rowsOf(runs, (results) => [
      middleOf(results, ({ jain }) => jain).toFixed(3),
      `${middleOf(results, ({ least }) => least).toFixed(2)}, ${middleOf(results, ({ most }) => most).toFixed(2)}`,
      `${ms(middleOf(results, ({ newcomerP50Ms }) => newcomerP50Ms))}, ${ms(middleOf(results, ({ newcomerP99Ms }) => newcomerP99Ms))}`,
      shown(middleOf(results, ({ jobsPerSecond }) => jobsPerSecond)),
    ]),
  );
}

export function weightedTable(runs: ReadonlyMap<number, readonly Scarce[]>): string {
  return table(
    ['tenants', 'Jain of cost over weight', 'least, most of a fair share', 'largest difference ÷ its bound'],
    ...[...runs].map(([tenants, results]) => [
      tenants.toLocaleString('en'),
      middleOf(results, ({ jain }) => jain).toFixed(4),
      `${middleOf(results, ({ least }) => least).toFixed(2)}, ${middleOf(results, ({ most }) => most).toFixed(2)}`,
      middleOf(results, ({ spreadOverBound }) => spreadOverBound).toFixed(2),
    ]),
  );
}

export function pacedTable(runs: Runs<Paced>): string {
  return table(
    ['', 'tenants', 'started early', 'late: p50', 'p99', 'max', 'p99 of light tenants', 'missing'],
    ...rowsOf(runs, (results) => [
      percent(middleOf(results, ({ early }) => early)),
      ms(middleOf(results, ({ p50Ms }) => p50Ms)),
      ms(middleOf(results, ({ p99Ms }) => p99Ms)),
      ms(middleOf(results, ({ maxMs }) => maxMs)),
      ms(middleOf(results, ({ lightP99Ms }) => lightP99Ms)),
      shown(middleOf(results, ({ missing }) => missing)),
    ]),
  );
}

export function promiseTable(
  rows: readonly (readonly [situation: string, tenants: number, basis: string, Errors])[],
): string {
  return table(
    ['', 'tenants', 'basis', 'promises', 'error: p50', 'p99', 'p50 ÷ promised wait', 'within the 90 % interval'],
    ...rows.map(([situation, tenants, basis, errors]) => [
      ...[
        situation,
        tenants.toLocaleString('en'),
        `\`${basis}\``,
        shown(errors.promises),
        ms(errors.p50Ms),
        ms(errors.p99Ms),
      ],
      Number.isFinite(errors.relativeP50) && errors.relativeP50 !== null ? percent(errors.relativeP50) : '',
      Number.isFinite(errors.within) && errors.within !== null ? percent(errors.within) : '',
    ]),
  );
}
