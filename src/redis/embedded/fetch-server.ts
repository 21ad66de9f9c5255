import type { LogRung } from './embedded-options.js';
import { fetchPackages, type Packaged, programIn } from './fetch-packages.js';
import { type ServerProgram, workingServer } from './server-program.js';

export interface FetchServerOptions {
  /** Where the server is kept, and found by the next call. */
  cacheDir: string;
  /** Where to look for apt and dpkg, as in the variable PATH. */
  path: string;
  log: LogRung;
}

export type FetchResult = { outcome: 'fetched'; server: ServerProgram } | { outcome: 'failed'; reason: string };

const SERVER = 'usr/bin/redis-server';

const REDIS: Packaged = {
  name: 'redis',
  packages: ['redis-server', 'redis-tools'],
  program: SERVER,
  works: async (home) => (await workingServer(programIn(home, SERVER))) !== undefined,
};

/** A server out of the packages of Debian or Ubuntu; see {@link fetchPackages}. */
export async function fetchServer({ cacheDir, path, log }: FetchServerOptions): Promise<FetchResult> {
  const onFetch = () => log('fetching', { packages: REDIS.packages.join(' '), cacheDir });
  const fetched = await fetchPackages(REDIS, { cacheDir, path, onFetch });
  if (fetched.outcome === 'failed') return fetched;
  const server = await workingServer(programIn(fetched.home, SERVER));
  return server === undefined ? { outcome: 'failed', reason: 'it does not run here' } : { outcome: 'fetched', server };
}
