import type { RedisFolder } from './redis-folder.js';

/** `always`: what was answered is on the disk. `everysec`: at most about the last second is lost when the machine dies. */
export type Durability = 'always' | 'everysec';

/** What the start log says of a mode. */
export const MAY_LOSE: Readonly<Record<Durability, string>> = {
  always: 'nothing that was answered, if the disk keeps what it confirms',
  everysec: 'about the last second, when the machine dies; nothing when Redis alone is killed',
};

/** The arguments of the embedded server: one socket, no TCP port, an append-only file, and nothing ever evicted. */
export function serverArguments(folder: RedisFolder, socketPath: string, durability: Durability): string[] {
  return Object.entries({
    port: '0',
    unixsocket: socketPath,
    unixsocketperm: '700',
    dir: folder.dir,
    pidfile: folder.pid,
    logfile: folder.log,
    daemonize: 'no',
    save: '',
    appendonly: 'yes',
    appendfsync: durability,
    // A file with a torn end is mended before it is loaded.
    'aof-load-truncated': 'no',
    'maxmemory-policy': 'noeviction',
  }).flatMap(([name, value]) => [`--${name}`, value]);
}
