import { mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { debianPackages } from './debian-packages.js';
import type { LogRung } from './embedded-options.js';
import { type ServerProgram, workingServer } from './server-program.js';

export interface FetchOptions {
  /** Where the server is kept, and found by the next call. */
  cacheDir: string;
  /** Where to look for apt and dpkg, as in the variable PATH. */
  path: string;
  log: LogRung;
}

export type FetchResult = { outcome: 'fetched'; server: ServerProgram } | { outcome: 'failed'; reason: string };

const PACKAGES = ['redis-server', 'redis-tools'];

/**
 * A server out of the packages of Debian or Ubuntu, without root and without touching the system: downloaded by apt with
 * folders of its own, unpacked into `cacheDir`, and run by a small script that tells the loader where its libraries are.
 * Done once; later calls find it there.
 */
export async function fetchServer({ cacheDir, path, log }: FetchOptions): Promise<FetchResult> {
  const home = join(cacheDir, `redis-${process.arch}`);
  const kept = await workingServer(serverIn(home));
  if (kept !== undefined) return { outcome: 'fetched', server: kept };

  let scratch: string | undefined;
  try {
    await mkdir(cacheDir, { recursive: true, mode: 0o700 });
    scratch = await mkdtemp(join(cacheDir, 'fetching-'));
    log('fetching', { packages: PACKAGES.join(' '), cacheDir });
    const reason = await unpackServer(path, scratch, join(scratch, 'redis'));
    if (reason !== undefined) return { outcome: 'failed', reason };
    await putInPlace(join(scratch, 'redis'), home, scratch);
  } catch (error) {
    return { outcome: 'failed', reason: error instanceof Error ? error.message : String(error) };
  } finally {
    if (scratch !== undefined) await rm(scratch, { recursive: true, force: true });
  }
  const server = await workingServer(serverIn(home));
  return server === undefined ? { outcome: 'failed', reason: 'it does not run here' } : { outcome: 'fetched', server };
}

function serverIn(home: string): string {
  return join(home, 'bin/redis-server');
}

/** Fills `home` with a server that runs. Answers with the reason when it cannot. */
async function unpackServer(path: string, scratch: string, home: string): Promise<string | undefined> {
  const packages = await debianPackages(path, scratch);
  if (packages === undefined) return 'apt-get and dpkg are not on PATH';
  const root = join(home, 'unpacked');
  await packages.unpack(PACKAGES, root);
  // First what the machine says it lacks; all of them where that was not the truth.
  for (const which of ['absent', 'all'] as const) {
    await writeLauncher(home);
    if ((await workingServer(serverIn(home))) !== undefined) return undefined;
    const libraries = await packages.libraries(PACKAGES, which);
    if (libraries.length > 0) await packages.unpack(libraries, root);
  }
  await writeLauncher(home);
  return (await workingServer(serverIn(home))) === undefined ? 'the fetched server does not run here' : undefined;
}

/** A script that becomes the server, with the same pid. It finds its libraries from its own place, so that the folder may be moved. */
async function writeLauncher(home: string): Promise<void> {
  const folders = (await libraryFolders(home)).map((folder) => `$here/${folder}`).join(':');
  const environment = folders === '' ? '' : `LD_LIBRARY_PATH="${folders}" `;
  const script = `#!/bin/sh
here=\${0%/bin/*}
${environment}exec "$here/unpacked/usr/bin/redis-server" "$@"
`;
  await mkdir(join(home, 'bin'), { recursive: true });
  await writeFile(serverIn(home), script, { mode: 0o755 });
}

/** Where the unpacked packages have their libraries, relative to `home`: one folder per processor and, in old releases, per `/lib` and `/usr/lib`. */
async function libraryFolders(home: string): Promise<string[]> {
  const folders: string[] = [];
  for (const lib of ['unpacked/usr/lib', 'unpacked/lib']) {
    const entries = await readdir(join(home, lib), { withFileTypes: true }).catch(() => []);
    folders.push(
      ...entries
        .filter((entry) => entry.isDirectory() && entry.name.includes('-linux-'))
        .map((entry) => `${lib}/${entry.name}`),
    );
  }
  return folders;
}

/** Moves a finished server to where all processes look for it, unless another process was first. */
async function putInPlace(from: string, home: string, scratch: string): Promise<void> {
  try {
    await rename(from, home);
  } catch {
    if ((await workingServer(serverIn(home))) !== undefined) return;
    await rename(home, join(scratch, 'broken'));
    await rename(from, home);
  }
}
