import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { aptFolders, aptSettings } from './apt-settings.js';
import { findOnPath } from './find-on-path.js';
import { packageLibraries } from './package-libraries.js';
import { runCommand } from './run-command.js';

/** Long enough for a slow line, short enough for somebody who waits at a terminal. */
const STEP_LIMIT_MS = 180_000;

/** Packages of Debian or Ubuntu, fetched and unpacked without root and without a change to the system. */
export interface DebianPackages {
  /** Downloads `packages` and unpacks them over one another. @throws Error with apt's reason. */
  unpack(packages: readonly string[], root: string): Promise<void>;
  /** The libraries that `packages` need; with `absent`, those alone that this machine has not installed. */
  libraries(packages: readonly string[], which: 'absent' | 'all'): Promise<string[]>;
}

/** Reads the machine's package sources into `scratch`; undefined where the tools of Debian are not on `path`. */
export async function debianPackages(path: string, scratch: string): Promise<DebianPackages | undefined> {
  const [aptGet, aptCache, dpkgDeb, dpkgQuery] = await Promise.all(
    ['apt-get', 'apt-cache', 'dpkg-deb', 'dpkg-query'].map((tool) => findOnPath(tool, path)),
  );
  if (!aptGet || !aptCache || !dpkgDeb || !dpkgQuery) return undefined;

  const settings = join(scratch, 'apt.conf');
  for (const folder of aptFolders(scratch)) await mkdir(folder, { recursive: true });
  await writeFile(settings, aptSettings(scratch));
  // One unreachable source among many makes `update` fail. Whether it was needed shows in the download.
  const update = await runCommand(aptGet, ['-c', settings, '-q', 'update'], { timeoutMs: STEP_LIMIT_MS });
  let downloads = 0;

  return {
    async unpack(packages, root) {
      const cwd = join(scratch, `debs-${downloads++}`);
      for (const folder of [cwd, root]) await mkdir(folder, { recursive: true });
      const download = await runCommand(aptGet, ['-c', settings, '-q', 'download', ...packages], {
        timeoutMs: STEP_LIMIT_MS,
        cwd,
      });
      if (download.status !== 0) throw new Error(reasonIn(update.stderr) ?? reasonIn(download.stderr) ?? 'apt failed');
      for (const file of await readdir(cwd)) {
        const unpacked = await runCommand(dpkgDeb, ['-x', join(cwd, file), root], { timeoutMs: STEP_LIMIT_MS });
        if (unpacked.status !== 0) throw new Error(unpacked.stderr.replaceAll(/\s+/g, ' ').trim());
      }
    },
    async libraries(packages, which) {
      const depends = ['-c', settings, 'depends', '--recurse', '--important', ...packages];
      const graph = await runCommand(aptCache, depends, { timeoutMs: STEP_LIMIT_MS });
      const libraries = packageLibraries(graph.stdout, packages);
      if (which === 'all') return libraries;
      const format = `\${Package} \${db:Status-Status}\\n`;
      const query = await runCommand(dpkgQuery, ['-W', '-f', format], { timeoutMs: STEP_LIMIT_MS });
      const installed = new Set(query.stdout.split('\n').filter((line) => line.endsWith(' installed')));
      return libraries.filter((name) => !installed.has(`${name} installed`));
    },
  };
}

/** The first thing that apt complains about, in one line and without its marks. */
function reasonIn(stderr: string): string | undefined {
  const line = stderr.split('\n').find((text) => /^[WE]: /.test(text));
  return line?.slice(3).replaceAll(/\s+/g, ' ').trim();
}
