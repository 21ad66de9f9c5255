import { parseArgs } from 'node:util';

/** What the demo is asked for. */
export interface Flags {
  /** How long the tenants send at least, in seconds; longer on a machine too slow to judge by then. */
  readonly seconds: number;
  /** Where the summary goes as JSON. */
  readonly jsonFile?: string;
}

export const USAGE = 'usage: npm run demo -- [--seconds N] [--json FILE]   N from 10 to 3600, default 60';

/** The flags in `args`, or what is wrong with them. */
export function readFlags(args: readonly string[]): Flags | { readonly fault: string } {
  let values: { seconds?: string | undefined; json?: string | undefined };
  try {
    values = parseArgs({ args: [...args], options: { seconds: { type: 'string' }, json: { type: 'string' } } }).values;
  } catch (error) {
    return { fault: error instanceof Error ? error.message : String(error) };
  }
  const seconds = Number(values.seconds ?? '60');
  if (!/^\d+$/.test(values.seconds ?? '60') || seconds < 10 || seconds > 3600) {
    return { fault: `--seconds: expected a whole number from 10 to 3600, got ${values.seconds}` };
  }
  if (values.json === '') return { fault: '--json: expected the name of a file' };
  return { seconds, ...(values.json === undefined ? {} : { jsonFile: values.json }) };
}
