import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { WorkerOrder } from '../config/worker-order.js';

/** A worker process of its own: a handler that computes hard never holds up the API. */
export interface WorkerProcess {
  /** Resolves once it takes jobs; rejects with its exit code when it ends before. */
  readonly ready: Promise<void>;
  /** Exit code, or `null` after a signal. */
  readonly ended: Promise<number | null>;
  /** Asks it to leave; asking twice makes it leave now. */
  stop(): void;
}

/** Starts a worker process. It ends when this process does, however that ends. */
export function startWorkerProcess(order: WorkerOrder): WorkerProcess {
  // A process group of its own: a Ctrl-C in the terminal reaches this process alone, which passes it on once.
  const child: ChildProcess = spawn(process.execPath, [workerMain(), JSON.stringify(order)], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    detached: true,
  });
  const ended = once(child, 'exit').then(([code]) => (typeof code === 'number' ? code : null));
  const ready = new Promise<void>((resolve, reject) => {
    child.once('message', () => resolve());
    void ended.then((code) => reject(new Error(`the worker ended with ${code ?? 'a signal'} before it was ready`)));
  });
  ready.catch(() => undefined);
  return { ready, ended, stop: () => void child.kill('SIGTERM') };
}

function workerMain(): string {
  const built = join(dirname(fileURLToPath(import.meta.url)), '..', '..', 'workers', 'main.js');
  if (!existsSync(built)) throw new Error('the worker program is missing: run `npm run build`');
  return built;
}
