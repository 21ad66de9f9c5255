import { findOnPath } from './find-on-path.js';

const INSTALLERS: ReadonlyArray<readonly [program: string, command: string]> = [
  ['apt-get', 'apt-get install redis-server'],
  ['dnf', 'dnf install valkey'],
  ['yum', 'yum install redis'],
  ['apk', 'apk add redis'],
  ['pacman', 'pacman -S valkey'],
  ['zypper', 'zypper install redis'],
];

/**
 * One sentence that says which command installs a server on this machine.
 *
 * @param why what was tried, as the start of the sentence: `No redis-server or valkey-server is on PATH`
 */
export async function installSentence(why: string, path: string, isRoot: boolean): Promise<string> {
  const command = await installCommand(path, isRoot);
  const remedy = command === undefined ? 'install Redis or Valkey' : `install one with \`${command}\``;
  return `${why}: ${remedy}, or set \`redis:\` to the address of a server that you have.`;
}

async function installCommand(path: string, isRoot: boolean): Promise<string | undefined> {
  // Homebrew first: it is there because the user of this machine wants it, and it refuses to run as root.
  if (await findOnPath('brew', path)) return 'brew install redis';
  for (const [program, command] of INSTALLERS) {
    if (await findOnPath(program, path)) return isRoot ? command : `sudo ${command}`;
  }
  return undefined;
}
