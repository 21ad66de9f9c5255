import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { headersOf, TENANT_KEY } from './served-api.js';

const run = promisify(execFile);
const program = fileURLToPath(new URL('../../node_modules/autocannon/autocannon.js', import.meta.url));

/** What autocannon, in a process of its own, says of an address. */
export interface Load {
  readonly requestsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

export const CONNECTIONS = 100;

/** Posts one body again and again over {@link CONNECTIONS} connections for so many seconds. */
export async function cannon(url: string, body: object, seconds: number): Promise<Load> {
  const headers = Object.entries(headersOf(TENANT_KEY)).flatMap(([name, value]) => ['-H', `${name}=${value}`]);
  const how = ['-c', String(CONNECTIONS), '-d', String(seconds), '-t', '30', '-m', 'POST', '-b', JSON.stringify(body)];
  const { stdout } = await run(process.execPath, [program, ...how, ...headers, '--json', '--no-progress', url], {
    maxBuffer: 1e8,
  });
  const { requests, latency, non2xx, errors, timeouts } = JSON.parse(stdout);
  if (non2xx + errors + timeouts > 0) throw new Error(`${non2xx} refusals, ${errors} errors, ${timeouts} timeouts`);
  return { requestsPerSecond: requests.total / JSON.parse(stdout).duration, p50Ms: latency.p50, p99Ms: latency.p99 };
}
