import { createHash } from 'node:crypto';
import { readlink, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { EmbeddedRedisError } from './embedded-redis-error.js';
import type { RedisFolder } from './redis-folder.js';

/** The kernel takes no longer address of a unix socket, in bytes: 107 on Linux, 103 on macOS and the BSDs. */
const LONGEST_SOCKET_PATH = process.platform === 'linux' ? 107 : 103;

/**
 * A path by which the folder's socket can be bound and reached.
 *
 * Normally that is the socket's own path. Where it is too long, a symlink with a short name in the system's temporary
 * folder leads to the folder: the socket itself stays in the data folder, so that processes with another idea of the
 * temporary folder still meet the same server.
 *
 * @throws EmbeddedRedisError when neither is short enough, or when the symlink's name is taken by something else.
 */
export async function reachableSocket(folder: RedisFolder, temporary: string = tmpdir()): Promise<string> {
  if (fits(folder.socket)) return folder.socket;
  const link = aliasOf(folder, temporary);
  const path = join(link, basename(folder.socket));
  if (!fits(path)) {
    throw new EmbeddedRedisError(
      `The path ${folder.socket} is too long for a unix socket (${LONGEST_SOCKET_PATH} bytes): choose a data folder with a shorter path.`,
    );
  }
  try {
    await symlink(folder.dir, link);
  } catch {
    const target = await readlink(link).catch(() => undefined);
    if (target !== folder.dir) {
      throw new EmbeddedRedisError(
        `${link} is not the link to ${folder.dir} that it should be: remove it, or choose a data folder with a shorter path.`,
      );
    }
  }
  return path;
}

/** Removes the symlink, where there is one. */
export async function removeSocketAlias(folder: RedisFolder, temporary: string = tmpdir()): Promise<void> {
  if (!fits(folder.socket)) await rm(aliasOf(folder, temporary), { force: true });
}

function aliasOf(folder: RedisFolder, temporary: string): string {
  // The user is in the name because a kernel may refuse to follow another user's symlink in a shared folder.
  const key = createHash('sha256')
    .update(`${process.getuid?.() ?? ''}:${folder.dir}`)
    .digest('hex')
    .slice(0, 16);
  return join(temporary, `headgate-${key}`);
}

function fits(path: string): boolean {
  return Buffer.byteLength(path) <= LONGEST_SOCKET_PATH;
}
