import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import { linkedTo } from './pace.js';

/** How to start the system. */
export interface SystemOptions {
  /** The folder that holds `bin/headgate.js`; relative paths in the configuration start here. */
  readonly projectFolder: string;
  readonly configFile: string;
  readonly dataFolder: string;
  readonly slots: number;
  /** Added to the environment of the processes. */
  readonly environment: Readonly<Record<string, string>>;
}

/** On a machine without Redis the first start fetches one. */
const READY_WITHIN_MS = 180_000;
const STOPPED_WITHIN_MS = 20_000;
/** What is shown of the log when something goes wrong. */
const LOG_LINES = 30;

/** The whole system as real processes: Redis, API and workers, started by the command that anybody would use. */
export class RunningSystem {
  readonly url: string;
  readonly #options: SystemOptions;
  readonly #child: ChildProcess;
  readonly #log: readonly string[];

  private constructor(url: string, options: SystemOptions, child: ChildProcess, log: readonly string[]) {
    this.url = url;
    this.#options = options;
    this.#child = child;
    this.#log = log;
  }

  /**
   * Starts it and waits until it says that it is ready and `/readyz` agrees.
   * @throws Error with the end of its log when it ends or does not come up.
   */
  static async start(options: SystemOptions, signal: AbortSignal): Promise<RunningSystem> {
    const child = spawn(
      process.execPath,
      [...command('start', options), '--listen', '127.0.0.1:0', '--concurrency', `ocr=${options.slots}`, '--json'],
      { ...processOptions(options), stdio: ['ignore', 'pipe', 'pipe'] },
    );
    const log: string[] = [];
    const deadline = linkedTo(signal);
    const timer = setTimeout(() => deadline.abort(new Error('it took too long')), READY_WITHIN_MS);
    try {
      const url = await readyUrl(child, log, deadline.signal);
      await untilReady(url, deadline.signal);
      return new RunningSystem(url, options, child, log);
    } catch (error) {
      await stop(child, options);
      const reason = error instanceof Error ? error.message : String(error);
      throw new Error(`the system did not start: ${reason}\n${lastLines(log)}`, { cause: error });
    } finally {
      clearTimeout(timer);
    }
  }

  /** The end of what the system wrote. */
  get log(): string {
    return lastLines(this.#log);
  }

  /** True while it runs. */
  get isRunning(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Ends it in order; kills it if it does not end. Its Redis ends with it in any case. */
  async stop(): Promise<void> {
    await stop(this.#child, this.#options);
  }
}

function command(verb: 'start' | 'stop', { configFile, dataFolder }: SystemOptions): string[] {
  return ['bin/headgate.js', verb, '--config', configFile, '--data', dataFolder];
}

function processOptions({ projectFolder, environment }: SystemOptions) {
  return { cwd: projectFolder, env: { ...process.env, ...environment } };
}

function readyUrl(child: ChildProcess, log: string[], deadline: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`ended with code ${code}`)));
    deadline.addEventListener('abort', () => reject(deadline.reason), { once: true });
    for (const stream of [child.stdout, child.stderr]) {
      if (stream === null) continue;
      createInterface({ input: stream }).on('line', (line) => {
        log.push(line);
        if (log.length > 10 * LOG_LINES) log.splice(0, log.length - LOG_LINES);
        const url = urlOfReadyLine(line);
        if (url !== undefined) resolve(url);
      });
    }
  });
}

/** The address in a line such as `{"ready":true,"url":"http://127.0.0.1:4711"}`. */
export function urlOfReadyLine(line: string): string | undefined {
  if (!line.startsWith('{')) return undefined;
  try {
    const parsed: unknown = JSON.parse(line);
    if (typeof parsed !== 'object' || parsed === null || !('ready' in parsed) || parsed.ready !== true)
      return undefined;
    return 'url' in parsed && typeof parsed.url === 'string' ? parsed.url : undefined;
  } catch {
    return undefined;
  }
}

async function untilReady(url: string, deadline: AbortSignal): Promise<void> {
  for (;;) {
    const response = await fetch(`${url}/readyz`, { signal: deadline }).catch(() => undefined);
    if (response?.ok === true) return;
    await wait(100, undefined, { signal: deadline });
  }
}

async function stop(child: ChildProcess, options: SystemOptions): Promise<void> {
  await endProcess(child);
  // Nothing is left to do after an orderly end; a process that was killed has left its Redis behind.
  await once(
    spawn(process.execPath, command('stop', options), { ...processOptions(options), stdio: 'ignore' }),
    'exit',
  );
}

async function endProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  const kill = setTimeout(() => child.kill('SIGKILL'), STOPPED_WITHIN_MS);
  await ended.finally(() => clearTimeout(kill));
}

function lastLines(log: readonly string[]): string {
  return log.slice(-LOG_LINES).join('\n');
}
