import { writeFile } from 'node:fs/promises';
import { readFlags, USAGE } from './flags.js';
import { runChaos } from './run-chaos.js';
import { linesOf } from './summary.js';

const say = (line: string) => process.stdout.write(`${line}\n`);

/** The command line of the chaos run; answers its exit code. */
async function main(args: readonly string[]): Promise<number> {
  const flags = readFlags(args);
  if (flags.kind === 'wrong') {
    process.stderr.write(`${flags.fault}\n${USAGE}\n`);
    return 2;
  }
  if (flags.kind === 'help') {
    say(USAGE);
    return 0;
  }
  const summary = await runChaos(flags.order, say);
  for (const line of linesOf(summary)) say(line);
  if (flags.jsonFile !== undefined) await writeFile(flags.jsonFile, `${JSON.stringify(summary, null, 2)}\n`);
  return summary.passed ? 0 : 1;
}

process.exit(await main(process.argv.slice(2)));
