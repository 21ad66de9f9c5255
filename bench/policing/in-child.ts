import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const jiti = fileURLToPath(new URL('../../node_modules/.bin/jiti', import.meta.url));
const script = fileURLToPath(new URL('measure.ts', import.meta.url));

/** Takes one measurement of `measure.ts` in a process of its own, which has its answer in the type that it prints. */
export async function inChild<Result>(name: string, socketPath: string, options: object): Promise<Result> {
  process.stderr.write(`${name} ${JSON.stringify(options)}\n`);
  const { stdout } = await run(jiti, [script, name, socketPath, JSON.stringify(options)], { maxBuffer: 1e8 });
  return JSON.parse(stdout);
}
