import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { RefereeServer, SeenEvent } from './referee-server.js';

const PROGRAM = fileURLToPath(new URL('./referee-process.mjs', import.meta.url));

/**
 * Starts the referee server as a child process, so that a busy test does not blur its clock. It ends with its parent.
 * Throws when the child ends before it listens.
 */
export async function startRefereeChild(onEvent: (event: SeenEvent) => void): Promise<RefereeServer> {
  const events: SeenEvent[] = [];
  const child = fork(PROGRAM, { execArgv: [], stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const url = await new Promise<string>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`the referee ended with ${code} before it listened`)));
    child.on('message', (message) => {
      const { url, event } = message as { url?: string; event?: SeenEvent };
      if (url !== undefined) resolve(url);
      if (event === undefined) return;
      events.push(event);
      onEvent(event);
    });
  });
  return {
    url,
    events: () => events,
    allEvents: async () => {
      const told = (await (await fetch(`${url}/trace`)).json()) as { events: SeenEvent[] };
      return told.events;
    },
    close: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, 'exit');
      if (child.connected) child.disconnect();
      await exited;
    },
  };
}
