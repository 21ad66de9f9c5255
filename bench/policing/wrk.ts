import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { fetchPackages, programIn } from '../../src/redis/embedded/fetch-packages.js';
import { findOnPath, SYSTEM_PATH } from '../../src/redis/embedded/find-on-path.js';
import { runCommand } from '../../src/redis/embedded/run-command.js';

/** What wrk says of a server. */
export interface Load {
  readonly requestsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

const here = (file: string): string => fileURLToPath(new URL(file, import.meta.url));
const jiti = here('../../node_modules/.bin/jiti');
const PATH = `${process.env.PATH ?? ''}:${SYSTEM_PATH}`;
const PROGRAM = 'usr/bin/wrk';

/**
 * The file to run for wrk: the one on PATH, else, on Debian and Ubuntu, one fetched from its package without root.
 *
 * @throws Error when there is neither.
 */
export async function wrkProgram(): Promise<string> {
  const installed = await findOnPath('wrk', PATH);
  if (installed !== undefined && (await runs(installed))) return installed;
  const result = await fetchPackages(
    { name: 'wrk', packages: ['wrk'], program: PROGRAM, works: (home) => runs(programIn(home, PROGRAM)) },
    { cacheDir: here('../../node_modules/.cache/headgate'), path: PATH, onFetch: () => undefined },
  );
  if (result.outcome === 'fetched') return programIn(result.home, PROGRAM);
  throw new Error(`the benchmark needs wrk, of Debian's package wrk: ${result.reason}`);
}

/** It says its version, and how it is used, and ends as if that were an error. */
async function runs(file: string): Promise<boolean> {
  return /^wrk /.test((await runCommand(file, ['-v'], { timeoutMs: 10_000 })).stdout);
}

/** Starts a server of `servers.ts`, has wrk ask it for so many seconds over 64 connections, and ends it. */
export async function benchServer(
  wrk: string,
  { server, socketPath, seconds }: { server: string; socketPath: string; seconds: number },
): Promise<Load> {
  const child = spawn(jiti, [here('serve.ts'), server, socketPath], { stdio: ['pipe', 'pipe', 'inherit'] });
  try {
    const [port] = await once(createInterface(child.stdout), 'line');
    const ask = async (forSeconds: number): Promise<string> => {
      const load = ['-t1', '-c64', `-d${forSeconds}s`, '--latency', '--timeout', '20s', '-s', here('users.lua')];
      const options = { timeoutMs: (forSeconds + 30) * 1000 };
      return (await runCommand(wrk, [...load, `http://127.0.0.1:${port}/`], options)).stdout;
    };
    await ask(Math.max(1, Math.round(seconds / 3)));
    return read(await ask(seconds));
  } finally {
    child.stdin.end();
    if (child.exitCode === null) await once(child, 'exit');
  }
}

const MS_PER: Readonly<Record<string, number>> = { us: 1e-3, ms: 1, s: 1e3, m: 6e4 };

function read(report: string): Load {
  const other = /Non-2xx or 3xx responses: \d+|Socket errors: .*/.exec(report);
  if (other !== null) throw new Error(`wrk met ${other[0]}`);
  const latency = (percent: number): number => {
    const [, value, unit = ''] = new RegExp(`^ *${percent}% +([\\d.]+)([a-z]+)`, 'm').exec(report) ?? [];
    return Number(value) * (MS_PER[unit] ?? Number.NaN);
  };
  const requestsPerSecond = Number(/Requests\/sec: +([\d.]+)/.exec(report)?.[1]);
  return { requestsPerSecond, p50Ms: latency(50), p99Ms: latency(99) };
}
