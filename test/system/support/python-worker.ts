import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { debianProgram } from '../../support/debian-program.js';
import { endsWithUs } from '../../support/ends-with-us.js';

/** The worker of the documentation, in Python. */
export const EXAMPLE_WORKER = fileURLToPath(new URL('../../../docs/examples/worker.py', import.meta.url));

/** A worker in Python, as a process of its own. */
export class PythonWorker {
  #said = '';
  readonly #child: ChildProcess;
  readonly #ended: Promise<unknown>;

  constructor(child: ChildProcess) {
    this.#child = child;
    this.#ended = once(child, 'close');
    child.stderr?.on('data', (piece) => {
      this.#said += String(piece);
    });
    endsWithUs(child);
  }

  /** Runs `file` with the arguments and the key of the documentation's worker. */
  static async start(
    file: string,
    { url, type, key }: { url: string; type: string; key: string },
  ): Promise<PythonWorker> {
    const python = await debianProgram('python3');
    const env = { PATH: process.env.PATH ?? '', WORKER_KEY: key };
    return new PythonWorker(spawn(python, [file, url, type], { env, stdio: ['ignore', 'ignore', 'pipe'] }));
  }

  /** What it wrote to standard error. */
  get said(): string {
    return this.#said;
  }

  /** As `kill -9` does. */
  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#ended;
  }

  /** Asks it to leave, and resolves when it has. */
  async stop(): Promise<void> {
    this.#child.kill('SIGTERM');
    await this.#ended;
  }
}
