import { mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { debianPackages } from './debian-packages.js';

/** Something that comes in packages of Debian and Ubuntu. */
export interface Packaged {
  /** Its folder in the cache. */
  readonly name: string;
  /** The packages that hold it. Libraries that they need are found. */
  readonly packages: readonly string[];
  /** The program that is wanted, as its package has it: `usr/bin/redis-server`. Absent when it is no program. */
  readonly program?: string;
  /** Whether what is in `home` works here; its packages lie in `<home>/unpacked`, its program is {@link programIn}. */
  readonly works: (home: string) => Promise<boolean>;
}

export interface FetchOptions {
  /** Where it is kept, and found by the next call. */
  readonly cacheDir: string;
  /** Where to look for apt and dpkg, as in the variable PATH. */
  readonly path: string;
  /** Told before a download. */
  readonly onFetch: () => void;
}

export type FetchedPackages =
  | { readonly outcome: 'fetched'; readonly home: string }
  | { readonly outcome: 'failed'; readonly reason: string };

/**
 * What is wanted out of the packages of Debian or Ubuntu, without root and without touching the system: downloaded by
 * apt with folders of its own and unpacked into `cacheDir`. Done once; later calls find it there.
 */
export async function fetchPackages(wanted: Packaged, options: FetchOptions): Promise<FetchedPackages> {
  const { cacheDir, path, onFetch } = options;
  const home = join(cacheDir, `${wanted.name}-${process.arch}`);
  if (await wanted.works(home)) return { outcome: 'fetched', home };

  let scratch: string | undefined;
  try {
    await mkdir(cacheDir, { recursive: true, mode: 0o700 });
    scratch = await mkdtemp(join(cacheDir, 'fetching-'));
    onFetch();
    const unpacked = join(scratch, wanted.name);
    const reason = await unpack(wanted, path, scratch, unpacked);
    if (reason !== undefined) return { outcome: 'failed', reason };
    await putInPlace(wanted, unpacked, home, scratch);
  } catch (error) {
    return { outcome: 'failed', reason: error instanceof Error ? error.message : String(error) };
  } finally {
    if (scratch !== undefined) await rm(scratch, { recursive: true, force: true });
  }
  return (await wanted.works(home))
    ? { outcome: 'fetched', home }
    : { outcome: 'failed', reason: 'it does not run here' };
}

/** The file to run for a program that was unpacked into `home`. */
export function programIn(home: string, program: string): string {
  return join(home, 'bin', basename(program));
}

/** Fills `home` with something that works. Answers with the reason when it cannot. */
async function unpack(wanted: Packaged, path: string, scratch: string, home: string): Promise<string | undefined> {
  const { packages: names, program } = wanted;
  const packages = await debianPackages(path, scratch);
  if (packages === undefined) return 'apt-get and dpkg are not on PATH';
  const root = join(home, 'unpacked');
  await packages.unpack(names, root);
  // First what the machine says it lacks; all of them where that was not the truth.
  for (const which of ['absent', 'all'] as const) {
    if (program !== undefined) await writeLauncher(home, program);
    if (await wanted.works(home)) return undefined;
    const libraries = await packages.libraries(names, which);
    if (libraries.length > 0) await packages.unpack(libraries, root);
  }
  if (program !== undefined) await writeLauncher(home, program);
  return (await wanted.works(home)) ? undefined : 'what was fetched does not run here';
}

/**
 * A script that becomes the program, with the same pid. It finds the libraries from its own place, so that the folder
 * may be moved.
 */
async function writeLauncher(home: string, program: string): Promise<void> {
  const folders = (await libraryFolders(home)).map((folder) => `$here/${folder}`).join(':');
  const environment = folders === '' ? '' : `LD_LIBRARY_PATH="${folders}" `;
  const script = `#!/bin/sh
here=\${0%/bin/*}
${environment}exec "$here/unpacked/${program}" "$@"
`;
  await mkdir(join(home, 'bin'), { recursive: true });
  await writeFile(programIn(home, program), script, { mode: 0o755 });
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

/** Moves what is finished to where all processes look for it, unless another process was first. */
async function putInPlace(wanted: Packaged, from: string, home: string, scratch: string): Promise<void> {
  try {
    await rename(from, home);
  } catch {
    if (await wanted.works(home)) return;
    await rename(home, join(scratch, 'broken'));
    await rename(from, home);
  }
}
