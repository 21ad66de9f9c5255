import { readFile } from 'node:fs/promises';
import { EmbeddedRedisError } from './embedded-redis-error.js';
import { findOnPath } from './find-on-path.js';
import type { RedisFolder } from './redis-folder.js';
import { runCommand } from './run-command.js';

/**
 * The lock that keeps a data folder to one server.
 *
 * It is a lock of the kernel (`flock`) on an open file that the server inherits and never closes, so it is held exactly
 * as long as the server lives, however that ends and whoever started it. There is no stale lock to recognise and no
 * moment between "nobody serves this folder" and "I do". Node itself cannot lock a file: `flock` (util-linux, busybox)
 * or perl does it and then becomes the server, with the same pid.
 */
export interface FolderLock {
  /** The command line that takes the lock, writes its pid, and becomes `command`. Ends with `LOCK_HELD` when it is taken. */
  holding(command: readonly string[]): readonly [program: string, ...args: string[]];
  isHeld(): Promise<boolean>;
  /** The pid of the server that holds the lock, or undefined when none is known. */
  holder(): Promise<number | undefined>;
}

/** Exit status of a command that found the lock taken. */
export const LOCK_HELD = 75;

// A shell whose `exec` cannot open the file ends with another status. `exec` keeps the descriptor and the pid. The pid is written only by whoever has the lock, so it is never wrong for long.
const FLOCK = `exec 9>>"$1"; "$3" -n 9 || exit ${LOCK_HELD}; echo $$ >"$2"; shift 3; exec "$@"`;
const FLOCK_FREE = `exec 9>>"$1"; "$2" -n 9 || exit ${LOCK_HELD}`;
const PERL_TAKE = `use Fcntl qw(:flock F_SETFD); open(my $l, ">>", shift) or exit 1; flock($l, LOCK_EX|LOCK_NB) or exit ${LOCK_HELD};`;
const PERL = `${PERL_TAKE} open(my $p, ">", shift) or exit 1; print {$p} "$$\\n"; close($p); fcntl($l, F_SETFD, 0); exec {$ARGV[0]} @ARGV; exit 127`;

/**
 * The lock of a folder, by whichever tool this machine has.
 *
 * @throws EmbeddedRedisError when it has neither `flock` nor `perl`.
 */
export async function folderLock(folder: RedisFolder, path: string): Promise<FolderLock> {
  const flock = await findOnPath('flock', path);
  if (flock !== undefined) {
    return lock(folder, (command) => ['/bin/sh', '-c', FLOCK, 'sh', folder.lock, folder.pid, flock, ...command], [
      '/bin/sh',
      '-c',
      FLOCK_FREE,
      'sh',
      folder.lock,
      flock,
    ]);
  }
  const perl = await findOnPath('perl', path);
  if (perl !== undefined) {
    return lock(folder, (command) => [perl, '-e', PERL, folder.lock, folder.pid, ...command], [
      perl,
      '-e',
      PERL_TAKE,
      folder.lock,
    ]);
  }
  throw new EmbeddedRedisError(
    'The embedded Redis needs `flock` (util-linux) or `perl` to lock its data folder: install one, or set `redis:` to the address of a server.',
  );
}

function lock(
  folder: RedisFolder,
  holding: FolderLock['holding'],
  [program, ...args]: readonly [string, ...string[]],
): FolderLock {
  return {
    holding,
    async isHeld() {
      const { status, stderr } = await runCommand(program, args, { timeoutMs: 10_000 });
      if (status !== 0 && status !== LOCK_HELD) throw new EmbeddedRedisError(`Cannot lock ${folder.lock}: ${stderr}`);
      return status === LOCK_HELD;
    },
    async holder() {
      const text = await readFile(folder.pid, 'utf8').catch(() => '');
      return /^\d+\s*$/.test(text) && Number(text) > 1 ? Number(text) : undefined;
    },
  };
}
