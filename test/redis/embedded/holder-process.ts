import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { EmbeddedOptions } from '../../../src/redis/embedded/embedded-redis.js';

const JITI = fileURLToPath(new URL('../../../node_modules/jiti/lib/jiti-cli.mjs', import.meta.url));
const HOLDER = fileURLToPath(new URL('./holder.ts', import.meta.url));

/** What `holder.ts` answers. */
export interface HolderAnswer {
  outcome: 'started' | 'refused' | 'stopped' | 'left running';
  rungs: string[];
  rung: string;
  pid: number;
  socketPath: string;
  name: string;
  message: string;
}

/** Another process that starts, or shares, the embedded Redis of a data folder. */
export interface Holder {
  started: HolderAnswer;
  release(): Promise<HolderAnswer['outcome']>;
  /** Ends the process as `kill -9` does. */
  kill(): Promise<void>;
}

/**
 * Runs `startEmbeddedRedis` in a process of its own and waits for its answer.
 *
 * @param wrapper a program and arguments to run it with, such as `['unshare', '-n']`
 */
export async function holdRedis(
  options: Omit<EmbeddedOptions, 'log'>,
  wrapper: readonly string[] = [],
  env: NodeJS.ProcessEnv = {},
): Promise<Holder> {
  const [program = process.execPath, ...args] = [...wrapper, process.execPath, JITI, HOLDER, JSON.stringify(options)];
  const child = spawn(program, args, {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, ...env },
  });
  const ended = once(child, 'close');
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const answer = async (): Promise<HolderAnswer> => {
    const line = await lines.next();
    if (line.done === true) throw new Error(`the process ended without an answer: ${await ended}`);
    return JSON.parse(line.value);
  };
  return {
    started: await answer(),
    async release() {
      child.stdin.write('release\n');
      const { outcome } = await answer();
      await ended;
      return outcome;
    },
    async kill() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}
