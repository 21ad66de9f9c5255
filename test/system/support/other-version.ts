import { cp, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const PROJECT = fileURLToPath(new URL('../../..', import.meta.url));

/** Another version of Headgate, as far as Redis can tell: its scripts have other texts, and so other names. */
export interface OtherVersion {
  /** What `node` is given to run it. */
  readonly program: string;
  remove(): Promise<void>;
}

/** A copy of what is built, over the same stored form, in which every verb of `lua/` has one more line. */
export async function otherVersion(): Promise<OtherVersion> {
  const home = await mkdtemp(join(tmpdir(), 'hg-version-'));
  for (const part of ['bin', 'dist', 'lua', 'package.json', 'headgate.yaml']) {
    await cp(join(PROJECT, part), join(home, part), { recursive: true });
  }
  await cp(join(PROJECT, 'src/dashboard'), join(home, 'src/dashboard'), { recursive: true });
  await symlink(join(PROJECT, 'node_modules'), join(home, 'node_modules'));
  const verbs = (await readdir(join(home, 'lua'))).filter((name) => name.endsWith('.lua'));
  for (const name of verbs) {
    const file = join(home, 'lua', name);
    const text = await readFile(file, 'utf8');
    const changed = text.replace(/^return function\(ARGV\)\n/m, '$&  local _version = 0\n');
    if (changed === text) throw new Error(`lua/${name} does not begin its verb as expected`);
    await writeFile(file, changed);
  }
  return {
    program: join(home, 'bin/headgate.js'),
    remove: () => rm(home, { recursive: true, force: true }),
  };
}
