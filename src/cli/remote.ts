import { type Command, InvalidArgumentError, Option } from 'commander';
import { HeadgateClient, type HeadgateError } from '../client/index.js';
import { environment } from '../config/environment.js';
import { UsageError } from './usage-error.js';

/** The options of every command that speaks to a running Headgate. */
export interface RemoteFlags {
  readonly url?: string;
  readonly key?: string;
  readonly tenant?: string;
  readonly json?: true;
}

/** What is written when a command is done: values for programs, lines for people. */
export type Printed = readonly string[];

/** Where a command that speaks to a running Headgate takes effect. */
export interface Remote {
  readonly client: HeadgateClient;
  /** One JSON line with `--json`, else the lines that `lines` makes. */
  print(value: unknown, lines: () => Printed): void;
  readonly json: boolean;
}

const DEFAULT_URL = 'http://127.0.0.1:8080';

/** Adds the options of {@link RemoteFlags} to a command. */
export function remote(command: Command, { tenant = true } = {}): Command {
  command
    .addOption(new Option('--url <url>', `where Headgate answers (default: HEADGATE_URL, else ${DEFAULT_URL})`))
    .addOption(new Option('--key <key>', 'API key (default: HEADGATE_KEY, where no other user of the machine sees it)'))
    .addOption(new Option('--json', 'print JSON, one document a line'));
  return tenant ? command.addOption(new Option('--tenant <id>', 'for whom an admin key speaks')) : command;
}

/** @throws UsageError when there is no key, or the URL is none. */
export function openRemote({ url, key, tenant, json }: RemoteFlags, write = writeOut): Remote {
  const env = environment();
  const at = url ?? env.url ?? DEFAULT_URL;
  const proof = key ?? env.key;
  if (!URL.canParse(at)) throw new UsageError(`--url: expected a URL such as ${DEFAULT_URL}, got "${at}"`);
  if (proof === undefined) throw new UsageError('no key: state --key or set HEADGATE_KEY');
  const isJson = json === true;
  return {
    client: new HeadgateClient({ url: at, key: proof, tenant }),
    json: isJson,
    print: (value, lines) => write(isJson ? [JSON.stringify(value)] : lines()),
  };
}

/** Writes lines to standard output. */
export function writeOut(lines: Printed): void {
  if (lines.length > 0) process.stdout.write(`${lines.join('\n')}\n`);
}

/** One sentence for people, or with `--json` one document for programs, about what was refused. */
export function refusalText(
  { code, message, status, field, retryAfterMs, problem }: HeadgateError,
  json: boolean,
): string {
  if (json) return JSON.stringify(problem ?? { code, status, detail: message, retryAfterMs });
  const place = field === undefined ? '' : ` (${field})`;
  const again = retryAfterMs === null ? '' : ` Again in ${retryAfterMs / 1000} s.`;
  return `headgate: ${code}${place}: ${message}${again}`;
}

/** A whole number from the command line. */
export function wholeNumber(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError(`expected a whole number; got "${text}"`);
  return Number(text);
}

/** A number of units from the command line. */
export function amount(text: string): number {
  if (!/^\d{1,15}(\.\d{1,9})?$/.test(text)) throw new InvalidArgumentError(`expected a number; got "${text}"`);
  return Number(text);
}

/** Rows with their columns aligned. */
export function table(rows: readonly (readonly (string | number | null | undefined)[])[]): string[] {
  const texts = rows.map((row) => row.map((cell) => (cell ?? '-').toString()));
  const widths = texts.reduce<number[]>((all, row) => row.map((cell, i) => Math.max(all[i] ?? 0, cell.length)), []);
  return texts.map((row) =>
    row
      .map((cell, i) => cell.padEnd(widths[i] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}
