import { spawnSync } from 'node:child_process';
import { debianProgram } from './debian-program.js';

/** A line of an exposition: the value of one series. */
export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const SERIES = /^([a-z_]+)(?:\{(.*)\})? (\S+)$/s;
const LABEL = /([a-z_]+)="((?:[^"\\]|\\.)*)"/g;

/** The samples of a text in the format of Prometheus, with names of tenants as they are. */
export function samplesOf(text: string): readonly Sample[] {
  return text.split('\n').flatMap((line) => {
    const [, name, labels = '', value] = SERIES.exec(line) ?? [];
    if (name === undefined) return [];
    const pairs = [...labels.matchAll(LABEL)].map(([, label = '', escaped = '']) => [label, unescaped(escaped)]);
    return [{ name, labels: Object.fromEntries(pairs), value: Number(value) }];
  });
}

/** The sum of the series of this name that have these labels; `undefined` when there is none. */
export function valueIn(text: string, name: string, labels: Readonly<Record<string, string>> = {}): number | undefined {
  const found = samplesOf(text).filter(
    (sample) =>
      sample.name === name && Object.entries(labels).every(([label, value]) => sample.labels[label] === value),
  );
  return found.length === 0 ? undefined : found.reduce((sum, { value }) => sum + value, 0);
}

/** What Prometheus' own parser and linter say against a text: nothing where all is well. */
export async function faultsOfExposition(text: string): Promise<string> {
  const promtool = await debianProgram('promtool');
  const { status, stderr, stdout } = spawnSync(promtool, ['check', 'metrics'], { input: text, encoding: 'utf8' });
  return status === 0 ? '' : `${stderr}${stdout}` || `promtool ended with ${status}`;
}

function unescaped(text: string): string {
  return text.replace(/\\(.)/g, (_all, letter) => (letter === 'n' ? '\n' : letter));
}
