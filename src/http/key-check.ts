import type { IncomingHttpHeaders } from 'node:http';
import { clientAddress } from '../policing/client-address.js';
import type { KeyDirectory } from '../shaping/key-directory.js';
import {
  authenticateGateway,
  bearerKey,
  GATEWAY_KEY_HEADER,
  NOBODYS_KEY,
  principalOfHolder,
  workerOfHolder,
} from './authenticate.js';
import type { FailedAttempts } from './failed-attempts.js';
import { hashKey, type KeyHolder, type Keyring, type Principal, type WorkerScope } from './keyring.js';
import { accepted, type Checked, type Problem, refused } from './problems.js';

export interface KeyParts {
  /** Keys of the configuration. */
  readonly keyring: Keyring;
  /** Keys that were made at run time; none unless stated. */
  readonly directory: KeyDirectory | undefined;
  readonly failures: FailedAttempts;
}

/** On whose behalf a request is made, by its `Authorization` header; `ip` is where it came from. */
export async function checkKey(
  keys: KeyParts,
  authorization: string | undefined,
  ip: string,
): Promise<Checked<Principal>> {
  const key = bearerKey(authorization);
  if (!key.ok) return key;
  const holder = await findHolder(keys, hashKey(key.value), ip);
  return holder.ok ? principalOfHolder(holder.value) : holder;
}

/** For whom the key of this hash speaks. */
export async function checkHash(keys: KeyParts, hash: string, ip: string): Promise<Checked<Principal>> {
  const holder = await findHolder(keys, hash, ip);
  return holder.ok ? principalOfHolder(holder.value) : holder;
}

/** A worker who shows its key; the hash of that tells one from another. */
export interface ShownWorker extends WorkerScope {
  readonly keyHash: string;
}

/** Whether a request shows the key of a worker, or of an admin. */
export async function checkWorkerKey(
  keys: KeyParts,
  authorization: string | undefined,
  ip: string,
): Promise<Checked<ShownWorker>> {
  const key = bearerKey(authorization);
  if (!key.ok) return key;
  const hash = hashKey(key.value);
  const holder = await findHolder(keys, hash, ip);
  if (!holder.ok) return holder;
  const may = workerOfHolder(holder.value);
  return may.ok ? accepted({ keyHash: hash, ...may.value }) : may;
}

/** Who holds the key of this hash. Keys of the configuration are known without asking anybody, and at once. */
function findHolder(keys: KeyParts, hash: string, ip: string): Checked<KeyHolder> | Promise<Checked<KeyHolder>> {
  const holder = keys.keyring.findHash(hash);
  return holder === undefined ? lookUp(keys, hash, ip) : accepted(holder);
}

/** One that nobody remembers is looked up, unless too many wrong ones came from there. */
async function lookUp({ directory, failures }: KeyParts, hash: string, ip: string): Promise<Checked<KeyHolder>> {
  const address = clientAddress(ip) ?? '';
  const waitMs = directory?.remembers(hash) === true ? 0 : failures.waitMs(address);
  if (waitMs > 0) return refused(tooMany('Authorization', waitMs));
  const tenant = await directory?.find(hash);
  if (tenant !== undefined) return accepted({ kind: 'tenant', tenant });
  failures.failed(address);
  return refused(NOBODYS_KEY);
}

/** For whom the key of this hash speaks, which was a right one when it was kept; `undefined` when it no longer is. */
export async function holderOfKept(
  { keyring, directory }: Pick<KeyParts, 'keyring' | 'directory'>,
  hash: string,
): Promise<Principal | undefined> {
  const holder = keyring.findHash(hash);
  if (holder !== undefined) {
    const principal = principalOfHolder(holder);
    return principal.ok ? principal.value : undefined;
  }
  const tenant = await directory?.find(hash);
  return tenant === undefined ? undefined : { kind: 'tenant', tenant };
}

/** Whether a request shows the key of a gateway, or of an admin, in the header for it; wrong ones count like any others. */
export function checkGatewayKey(
  { keyring, failures }: Pick<KeyParts, 'keyring' | 'failures'>,
  headers: IncomingHttpHeaders,
  ip: string | undefined,
): Checked<'gateway' | 'admin'> {
  const key = authenticateGateway(keyring, headers);
  if (key.ok || key.problem.code !== 'invalid_key') return key;
  // Over a unix socket there is no address.
  const address = clientAddress(ip ?? '') ?? '';
  const waitMs = failures.waitMs(address);
  if (waitMs > 0) return refused(tooMany(GATEWAY_KEY_HEADER, waitMs));
  failures.failed(address);
  return key;
}

export function tooMany(field: string, retryAfterMs: number): Problem {
  const detail = 'Too many keys that nobody holds came from this address.';
  return { code: 'too_many_wrong_keys', field, detail, retryAfterMs };
}
