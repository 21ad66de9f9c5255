import { join } from 'node:path';
import type { EmbeddedOptions } from './embedded-options.js';
import { NoRedisServer } from './embedded-redis-error.js';
import { fetchServer } from './fetch-server.js';
import { SYSTEM_PATH } from './find-on-path.js';
import { installSentence } from './install-sentence.js';
import type { RedisFolder } from './redis-folder.js';
import { type ServerProgram, serverOnPath } from './server-program.js';

/**
 * The program to start: the one on PATH, else one fetched now or earlier.
 *
 * @throws NoRedisServer when there is neither; its message says which command installs one here.
 */
export async function chooseServer(
  options: Pick<EmbeddedOptions, 'allowDownload' | 'path' | 'cacheDir' | 'log'>,
  folder: Pick<RedisFolder, 'dataDir'>,
): Promise<ServerProgram & { rung: 'path' | 'fetched' }> {
  const path = options.path ?? SYSTEM_PATH;
  const installed = await serverOnPath(path);
  if (installed !== undefined) return { ...installed, rung: 'path' };

  let why = 'No redis-server or valkey-server is on PATH';
  if (!options.allowDownload) {
    why += ' and --no-download forbids to fetch one';
  } else {
    const cacheDir = options.cacheDir ?? join(folder.dataDir, 'cache');
    const fetched = await fetchServer({ cacheDir, path, log: options.log });
    if (fetched.outcome === 'fetched') return { ...fetched.server, rung: 'fetched' };
    why += ` and none could be fetched (${fetched.reason})`;
  }
  const sentence = await installSentence(why, path, process.getuid?.() === 0);
  options.log('none', { message: sentence });
  throw new NoRedisServer(sentence);
}
