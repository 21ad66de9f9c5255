import { findOnPath } from './find-on-path.js';
import { runCommand } from './run-command.js';

/** A Redis or Valkey server that runs on this machine. */
export interface ServerProgram {
  file: string;
  /** As it calls itself: `7.0.15`. */
  version: string;
}

const NAMES = ['redis-server', 'valkey-server'];

/** The first server on `path` that runs. One that does not (a library is missing, another processor's) is passed over. */
export async function serverOnPath(path: string, names: readonly string[] = NAMES): Promise<ServerProgram | undefined> {
  for (const name of names) {
    const file = await findOnPath(name, path);
    const program = file === undefined ? undefined : await workingServer(file);
    if (program !== undefined) return program;
  }
  return undefined;
}

/** The server in `file`, if it runs far enough to tell its version. */
export async function workingServer(file: string): Promise<ServerProgram | undefined> {
  const { status, stdout } = await runCommand(file, ['--version'], { timeoutMs: 10_000 });
  const version = /\bv=(\S+)/.exec(stdout)?.[1];
  return status === 0 && version !== undefined ? { file, version } : undefined;
}
