import { setTimeout as pause } from 'node:timers/promises';
import type { RedisLink } from './connection.js';
import { askMasters } from './masters.js';

/** A connection of another process, as CLIENT LIST shows it. */
export interface Connected {
  /** `headgate:` and what it is for. */
  readonly name: string;
  readonly address: string;
}

/** A connection that its owner has just closed may be listed for a moment: look this often, this far apart, before believing it. */
const LOOKS = 5;
const BETWEEN_LOOKS_MS = 100;

/** Connections of Headgate processes that may serve jobs: not those that police alone, that look or that bring data forward. */
const SERVING = /^headgate:(?:api|worker)/;

/** Processes of Headgate, of any version, that are connected to this Redis and may read or write what is stored of jobs. */
export async function servingProcesses(redis: RedisLink): Promise<readonly Connected[]> {
  let found = await listed(redis);
  for (let look = 1; found.length > 0 && look < LOOKS; look += 1) {
    await pause(BETWEEN_LOOKS_MS);
    found = await listed(redis);
  }
  return found;
}

async function listed(redis: RedisLink): Promise<readonly Connected[]> {
  const lists = await askMasters(redis, (master) => master.client('LIST'));
  const all = lists
    .flatMap((list) => String(list).split('\n'))
    .map((line) => ({
      name: / name=(\S*)/.exec(line)?.[1] ?? '',
      address: / addr=(\S*)/.exec(line)?.[1] ?? '',
    }));
  return all.filter(({ name }) => SERVING.test(name));
}
