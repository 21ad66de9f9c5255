import { resolve } from 'node:path';
import { checkedKey } from './api-key.js';
import type { Environment } from './environment.js';
import { type ListenAddress, listenAddress } from './listen-address.js';
import type { ProblemList } from './problem-list.js';
import { formatQuantity, parseQuantity } from './quantity.js';
import { type RedisAddress, redisAddress } from './redis-address.js';

/** The longest wait of an orderly stop. */
export const LONGEST_GRACE_MS = 3_600_000;

/** What the command line says over the file, as it was written there; `dataDir` is from the folder that Headgate was started in. */
export interface CommandLine {
  readonly listen?: string;
  readonly dataDir?: string;
  readonly shutdownGrace?: string;
  readonly allowEviction?: boolean;
}

export interface OutsideOptions {
  readonly overrides?: CommandLine;
  /** The folder that Headgate was started in. */
  readonly cwd: string;
}

/** What the command line and the environment say; each field only if they do. */
export interface OutsideSettings {
  readonly redis: RedisAddress | undefined;
  readonly listen: ListenAddress | undefined;
  readonly dataDir: string | undefined;
  readonly shutdownGraceMs: number | undefined;
  readonly adminKeys: readonly string[];
  readonly allowEviction: boolean;
}

/** Reads what stands outside the file. Problems are filed under the option or variable. */
export function outsideSettings(options: OutsideOptions, env: Environment, problems: ProblemList): OutsideSettings {
  const { overrides = {}, cwd } = options;
  const [listenName, listen] =
    overrides.listen === undefined ? ['HEADGATE_LISTEN', env.listen] : ['--listen', overrides.listen];
  const [dataName, data] =
    overrides.dataDir === undefined ? ['HEADGATE_DATA', env.dataDir] : ['--data', overrides.dataDir];

  const sound = <T>(name: string, read: { value: T } | { fault: string } | undefined): T | undefined => {
    if (read === undefined || 'value' in read) return read?.value;
    problems.addOutside(name, read.fault);
    return undefined;
  };
  const adminKey = sound('HEADGATE_ADMIN_KEY', env.adminKey === undefined ? undefined : checkedKey(env.adminKey, ''));
  return {
    redis: sound('REDIS_URL', env.redisUrl === undefined ? undefined : redisAddress(env.redisUrl, cwd)),
    listen: sound(listenName, listen === undefined ? undefined : listenAddress(listen)),
    dataDir: sound(dataName, data === undefined ? undefined : folderAt(cwd, data)),
    shutdownGraceMs: sound('--shutdown-grace', grace(overrides.shutdownGrace)),
    adminKeys: adminKey === undefined ? [] : [adminKey],
    allowEviction: overrides.allowEviction === true,
  };
}

function grace(text: string | undefined): { value: number } | { fault: string } | undefined {
  if (text === undefined) return undefined;
  const ms = parseQuantity('duration', text);
  if (ms !== undefined && ms <= LONGEST_GRACE_MS) return { value: ms };
  return {
    fault: `expected a duration from 0s to ${formatQuantity('duration', LONGEST_GRACE_MS)}, such as 30s; got "${text}"`,
  };
}

function folderAt(cwd: string, path: string): { value: string } | { fault: string } {
  if (path === '' || path.includes('\0')) return { fault: 'expected the path of a folder' };
  return { value: resolve(cwd, path) };
}
