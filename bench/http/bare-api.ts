import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { jiti } from '../in-child.js';

/** A fastify process of the bench, with a route that only answers. */
export interface BareApi {
  readonly url: string;
  stop(): Promise<void>;
}

/** Starts it. */
export async function serveBare(): Promise<BareApi> {
  const child = spawn(jiti, [fileURLToPath(new URL('bare-fastify.ts', import.meta.url))], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const closed = once(child, 'close');
  const [url] = await once(createInterface({ input: child.stdout }), 'line');
  return {
    url: String(url),
    stop: async () => {
      child.kill();
      await closed;
    },
  };
}
