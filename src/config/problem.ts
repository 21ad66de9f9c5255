/** Where a value stands in the configuration: names, and indexes of lists. */
export type Path = readonly (string | number)[];

/** One thing that is wrong: where, and what was expected. `line` and `column` count from 1. */
export interface ConfigProblem {
  /** `tiers.free.rate`, `tenants["a:b"].keys[0]`, `HEADGATE_LISTEN`; empty for the file as a whole. */
  readonly path: string;
  readonly message: string;
  readonly line?: number;
  readonly column?: number;
}

/** The configuration cannot be used. Holds every problem there is, in the order of the file. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly problems: readonly ConfigProblem[];

  /** @param file The file's name as the reader knows it. */
  constructor(file: string, problems: readonly ConfigProblem[]) {
    const count = problems.length === 1 ? 'one problem' : `${problems.length} problems`;
    const lines = problems.map((problem) => `  ${formatProblem(file, problem)}`);
    super([`The configuration has ${count}:`, ...lines].join('\n'));
    this.problems = problems;
  }
}

/** `headgate.yaml:12:9 tiers.free.rate: expected …`; a problem outside the file has no position and does not name it. */
export function formatProblem(file: string, { path, message, line, column }: ConfigProblem): string {
  const place = line === undefined ? (path === '' ? file : '') : `${file}:${line}:${column ?? 1}`;
  return `${[place, path].filter((part) => part !== '').join(' ')}: ${message}`;
}

/** A path as text, for people: what is not a plain name is quoted, and cut where it is long. */
export function formatPath(path: Path): string {
  let text = '';
  for (const step of path) {
    if (typeof step === 'number') text += `[${step}]`;
    else if (/^[A-Za-z_][\w-]*$/.test(step)) text += text === '' ? step : `.${step}`;
    else text += `[${JSON.stringify(shortened(step))}]`;
  }
  return text;
}

/** Text that came from outside, short enough for a message. */
export function shortened(text: string): string {
  return text.length <= 60 ? text : `${text.slice(0, 60)}…`;
}
