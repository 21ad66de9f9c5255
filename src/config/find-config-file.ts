import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const FILE_NAME = 'headgate.yaml';

/** Where the configuration stands; `packaged` when it is the one that comes with Headgate. */
export interface FoundConfigFile {
  readonly path: string;
  readonly packaged: boolean;
}

/** The file named, else `headgate.yaml` in `cwd`, else the one that comes with Headgate. A named one need not exist. */
export function findConfigFile(cwd: string, named: string | undefined): FoundConfigFile {
  if (named !== undefined) return { path: resolve(cwd, named), packaged: false };
  const own = join(cwd, FILE_NAME);
  return existsSync(own) ? { path: own, packaged: false } : { path: packagedFile(), packaged: true };
}

/** It stands at the top of the package, above this code, compiled or not. */
function packagedFile(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, FILE_NAME)) && dirname(folder) !== folder) folder = dirname(folder);
  return join(folder, FILE_NAME);
}
