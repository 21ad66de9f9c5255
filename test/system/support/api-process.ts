import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { endsWithUs } from '../../support/ends-with-us.js';

const API = fileURLToPath(new URL('held-api.mjs', import.meta.url));

/** An API with the plugin, in a process of its own. */
export interface ApiProcess {
  /** What a user is answered who asks for something that a policy holds. */
  ask(policy: string, user: string): Promise<ApiAnswer>;
  /** What its own wall clock shows. */
  wallClockMs(): Promise<number>;
  stop(): Promise<void>;
}

export interface ApiAnswer {
  readonly status: number;
  /** Seconds; undefined when it was not refused. */
  readonly retryAfter: number | undefined;
}

/**
 * Starts one and resolves when it listens.
 *
 * @param options of the plugin, but for `caller`
 */
export async function startApi(options: object, env: Readonly<Record<string, string>> = {}): Promise<ApiProcess> {
  const child = spawn(process.execPath, [API, JSON.stringify(options)], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  endsWithUs(child);
  const ended = once(child, 'close');
  const url = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).once('line', resolve);
    child.once('close', (code) => reject(new Error(`the API ended (${code}) before it listened`)));
  });
  return {
    async ask(policy, user) {
      const answer = await fetch(`${url}/${policy}`, { headers: { user } });
      await answer.arrayBuffer();
      const retryAfter = answer.headers.get('retry-after');
      return { status: answer.status, retryAfter: retryAfter === null ? undefined : Number(retryAfter) };
    },
    async wallClockMs() {
      const clock: unknown = await (await fetch(`${url}/clock`)).json();
      if (typeof clock !== 'object' || clock === null || !('wallClockMs' in clock)) throw new Error('no clock');
      return Number(clock.wallClockMs);
    },
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}
