import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { fetchPackages, type Packaged, programIn } from '../../src/redis/embedded/fetch-packages.js';
import { findOnPath, SYSTEM_PATH } from '../../src/redis/embedded/find-on-path.js';
import { runCommand } from '../../src/redis/embedded/run-command.js';

/** Programs of others that tests run, by the name they have on PATH. */
const PROGRAMS = {
  nginx: { packages: ['nginx'], program: 'usr/sbin/nginx', version: '-v' },
  caddy: { packages: ['caddy'], program: 'usr/bin/caddy', version: 'version' },
  ab: { packages: ['apache2-utils'], program: 'usr/bin/ab', version: '-V' },
  promtool: { packages: ['prometheus'], program: 'usr/bin/promtool', version: '--version' },
  python3: {
    packages: ['python3.11-minimal', 'libpython3.11-minimal', 'libpython3.11-stdlib'],
    program: 'usr/bin/python3.11',
    version: '--version',
  },
  chromium: { packages: ['chromium', 'fonts-liberation'], program: 'usr/lib/chromium/chromium', version: '--version' },
  strace: { packages: ['strace'], program: 'usr/bin/strace', version: '-V' },
} as const;

/** In its package the folder before `faketime` is called after the processor. */
const FAKETIME = /^.*-linux-.*$/;
const FAKETIME_LIBRARY = 'faketime/libfaketimeMT.so.1';

export interface WhereToLook {
  /** Where to look for programs, as in the variable PATH. Default: that of the tests, and the system's folders. */
  readonly path?: string;
  /** Where fetched packages are kept. Default: shared by all tests. */
  readonly cacheDir?: string;
}

const HERE = `${process.env.PATH ?? ''}:${SYSTEM_PATH}`;
const CACHE = fileURLToPath(new URL('../../node_modules/.cache/headgate', import.meta.url));

/**
 * The file to run for a program: the one on PATH, else, on Debian and Ubuntu, one fetched from its package without root.
 *
 * @throws Error when there is neither; it says which package holds the program.
 */
export async function debianProgram(name: keyof typeof PROGRAMS, where: WhereToLook = {}): Promise<string> {
  const { path = HERE } = where;
  const { packages, program, version } = PROGRAMS[name];
  const runs = async (file: string) => (await runCommand(file, [version], { timeoutMs: 10_000 })).status === 0;
  const installed = await findOnPath(name, path);
  if (installed !== undefined && (await runs(installed))) return installed;
  const home = await fetched({ name, packages, program, works: (folder) => runs(programIn(folder, program)) }, where);
  return programIn(home, program);
}

/**
 * The library that tells a program another wall clock, for its LD_PRELOAD. It is the one for programs with threads.
 *
 * @throws Error when it is neither installed nor to be had.
 */
export async function fakeTimeLibrary(where: WhereToLook = {}): Promise<string> {
  const installed = await workingLibrary('/');
  if (installed !== undefined) return installed;
  const works = async (home: string) => (await workingLibrary(join(home, 'unpacked'))) !== undefined;
  const home = await fetched({ name: 'libfaketime', packages: ['libfaketime'], works }, where);
  const library = await workingLibrary(join(home, 'unpacked'));
  if (library === undefined) throw new Error('libfaketime was there a moment ago');
  return library;
}

async function fetched(wanted: Packaged, { path = HERE, cacheDir = CACHE }: WhereToLook): Promise<string> {
  const result = await fetchPackages(wanted, { cacheDir, path, onFetch: () => undefined });
  if (result.outcome === 'fetched') return result.home;
  const packages = wanted.packages.join(' ');
  throw new Error(`The tests need ${wanted.name} of Debian's package ${packages}: ${result.reason}`);
}

/** The library below `root`, if it makes a program believe that it is 2001. */
async function workingLibrary(root: string): Promise<string | undefined> {
  for (const file of librariesBelow(root)) {
    const told = [`LD_PRELOAD=${file}`, 'FAKETIME=@2001-06-01 12:00:00', 'date', '+%Y'];
    const { stdout } = await runCommand('/usr/bin/env', told, { timeoutMs: 10_000 });
    if (stdout.trim() === '2001') return file;
  }
  return undefined;
}

function librariesBelow(root: string): string[] {
  try {
    const lib = join(root, 'usr/lib');
    return readdirSync(lib)
      .filter((name) => FAKETIME.test(name))
      .map((name) => join(lib, name, FAKETIME_LIBRARY));
  } catch {
    return [];
  }
}
