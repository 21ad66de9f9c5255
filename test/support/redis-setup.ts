import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { fetchServer } from '../../src/redis/embedded/fetch-server.js';
import { installSentence } from '../../src/redis/embedded/install-sentence.js';
import { serverOnPath } from '../../src/redis/embedded/server-program.js';

const CACHE = join(dirname(fileURLToPath(import.meta.url)), '../../node_modules/.cache/headgate');

/**
 * vitest's global set-up: the tests run against real Redis servers, so there has to be a `redis-server` on PATH. Where
 * there is none, it is fetched as the embedded Redis does, and put on the PATH of the workers, which inherit it.
 */
export default async function setup(): Promise<void> {
  const path = process.env.PATH ?? '';
  if ((await serverOnPath(path, ['redis-server'])) !== undefined) return;
  const fetched = await fetchServer({ cacheDir: CACHE, path, log: () => undefined });
  if (fetched.outcome === 'failed') {
    const why = `The tests need redis-server on PATH, and it could not be fetched (${fetched.reason})`;
    throw new Error(await installSentence(why, path, process.getuid?.() === 0));
  }
  process.env.PATH = `${dirname(fetched.server.file)}${delimiter}${path}`;
}
