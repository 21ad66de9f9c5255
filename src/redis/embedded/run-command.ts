import { spawn } from 'node:child_process';

export interface CommandResult {
  /** Exit status; `undefined` when it could not be run, was killed, or took longer than `timeoutMs`. */
  status: number | undefined;
  stdout: string;
  stderr: string;
}

/** Runs a program to its end and reads what it prints. Never rejects: a program that cannot be run has no status. */
export function runCommand(
  program: string,
  args: readonly string[],
  options: { timeoutMs: number; cwd?: string },
): Promise<CommandResult> {
  return new Promise((resolve) => {
    const output = { stdout: '', stderr: '' };
    const child = spawn(program, args, {
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: options.timeoutMs,
      ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    });
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output.stdout += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      output.stderr += text;
    });
    child.once('error', (error) => resolve({ status: undefined, stdout: output.stdout, stderr: error.message }));
    child.once('close', (status) => resolve({ status: status ?? undefined, ...output }));
  });
}
