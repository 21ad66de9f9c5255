import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { findOnPath } from '../../../src/redis/embedded/find-on-path.js';

/** The PATH of whoever runs the tests. */
export const REAL_PATH = process.env.PATH ?? '';

export const APT_TOOLS = ['apt-get', 'apt-cache', 'dpkg-deb', 'dpkg-query'];

const made: string[] = [];
afterAll(async () => {
  for (const folder of made.splice(0)) await rm(folder, { recursive: true, force: true });
});

/**
 * A PATH of one folder that has exactly these programs: a link to the real one, or a shell script with the given body.
 *
 * @throws Error when a program that should be linked is not on this machine.
 */
export async function pathWith(
  linked: readonly string[],
  scripts: Readonly<Record<string, string>> = {},
): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'hg-path-'));
  made.push(folder);
  for (const program of linked) {
    const file = await findOnPath(program, REAL_PATH);
    if (file === undefined) throw new Error(`${program} is not on this machine`);
    // A script in between, since what a program is called and where it lies may matter to it.
    await writeScript(join(folder, program), `exec '${file}' "$@"`);
  }
  for (const [program, body] of Object.entries(scripts)) await writeScript(join(folder, program), body);
  return folder;
}

async function writeScript(file: string, body: string): Promise<void> {
  await writeFile(file, `#!/bin/sh\n${body}\n`);
  await chmod(file, 0o755);
}
