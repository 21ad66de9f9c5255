import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
/** Runs TypeScript as it is. */
export const jiti = fileURLToPath(new URL('../node_modules/.bin/jiti', import.meta.url));

/** Takes one measurement and has its answer in the type that it prints. */
export type Take = <Result>(name: string, socketPath: string, options: object) => Promise<Result>;

/** Measurements by a script `SCRIPT NAME SOCKET OPTIONS` that prints its answer as JSON, each in a process of its own. */
export function inChild(script: URL): Take {
  const path = fileURLToPath(script);
  return async (name, socketPath, options) => {
    process.stderr.write(`${name} ${JSON.stringify(options)}\n`);
    const { stdout } = await run(jiti, [path, name, socketPath, JSON.stringify(options)], { maxBuffer: 1e8 });
    return JSON.parse(stdout);
  };
}
