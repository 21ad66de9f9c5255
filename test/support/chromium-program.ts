import { findOnPath, SYSTEM_PATH } from '../../src/redis/embedded/find-on-path.js';
import { runCommand } from '../../src/redis/embedded/run-command.js';
import { debianProgram, type WhereToLook } from './debian-program.js';

/** With it come the fonts: without one a page has no letters. */
const PACKAGES = ['chromium', 'fonts-liberation'];
const INSTALL_MS = 300_000;

/**
 * The file of Debian's chromium: the one on PATH; else, for root on Debian, one that is installed now, as anybody would;
 * else one that is fetched without root.
 *
 * @throws Error when there is none to be had; it says which command installs it.
 */
export async function chromiumProgram(where: WhereToLook = {}): Promise<string> {
  const path = where.path ?? `${process.env.PATH ?? ''}:${SYSTEM_PATH}`;
  const installed = await findOnPath('chromium', path);
  if (installed !== undefined) return installed;
  const failed = process.getuid?.() === 0 ? await install(path) : undefined;
  const now = await findOnPath('chromium', path);
  if (now !== undefined) return now;
  try {
    return await debianProgram('chromium', where);
  } catch (error) {
    const reason = failed ?? (error instanceof Error ? error.message : String(error));
    throw new Error(
      `The browser tests need chromium, and it could not be installed (${reason}). ` +
        `Install it with: sudo apt-get install ${PACKAGES.join(' ')}`,
    );
  }
}

/** Answers with the reason when it cannot. */
async function install(path: string): Promise<string | undefined> {
  const aptGet = await findOnPath('apt-get', path);
  if (aptGet === undefined) return 'apt-get is not on PATH';
  const within = { timeoutMs: INSTALL_MS };
  await runCommand(aptGet, ['-q', 'update'], within);
  const asked = ['-q', '-y', '--no-install-recommends', 'install', ...PACKAGES];
  const { status, stderr } = await runCommand(
    '/usr/bin/env',
    ['DEBIAN_FRONTEND=noninteractive', aptGet, ...asked],
    within,
  );
  if (status === 0) return undefined;
  const [reason = 'apt-get failed'] = stderr.split('\n').filter((line) => line.startsWith('E:'));
  return reason;
}
