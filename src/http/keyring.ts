import { hash as digest, timingSafeEqual } from 'node:crypto';

/** On whose behalf a request is made. */
export type Principal =
  | { readonly kind: 'tenant'; readonly tenant: string }
  /** May speak for any tenant, and has to say for which. */
  | { readonly kind: 'admin' };

/** Who holds a key. A gateway speaks for callers of its own, and for no tenant; a worker runs jobs of all tenants, and speaks for none. */
export type KeyHolder = Principal | { readonly kind: 'gateway' } | ({ readonly kind: 'worker' } & WorkerScope);

/** Of which types a worker may take jobs; `null`: of all. */
export interface WorkerScope {
  readonly types: ReadonlySet<string> | null;
}

/** A key that is accepted. Only its hash is kept. */
export interface KeyEntry {
  /** SHA-256 of the key, 64 lower-case hex digits, as {@link hashKey} gives it. */
  readonly hash: string;
  readonly principal: KeyHolder;
}

export interface Keyring {
  /** The holder of `key`, or `undefined` when nobody holds it. */
  find(key: string): KeyHolder | undefined;
  /** The same by the hash of a key, for whoever kept that alone. */
  findHash(hash: string): KeyHolder | undefined;
}

/** The stored form of a key: keys are long random strings, so one round of SHA-256 is enough. */
export function hashKey(key: string): string {
  return digest('sha256', key, 'hex');
}

/**
 * A keyring over fixed lists.
 *
 * Looking up by hash tells a caller who measures time nothing about a key: a guess selects a place by the hash of the
 * guess, which nobody can steer; the hashes themselves are then compared in constant time.
 *
 * @throws Error when two holders have the same key, or a hash is not one.
 */
export function createKeyring(entries: Iterable<KeyEntry>): Keyring {
  const byHash = new Map<string, { digest: Buffer; principal: KeyHolder }>();
  for (const { hash, principal } of entries) {
    if (!/^[0-9a-f]{64}$/.test(hash)) throw new Error(`the key of ${holder(principal)} is not a SHA-256 in hex`);
    const other = byHash.get(hash);
    if (other !== undefined && holder(other.principal) !== holder(principal)) {
      throw new Error(`${holder(other.principal)} and ${holder(principal)} have the same key`);
    }
    byHash.set(hash, { digest: Buffer.from(hash, 'hex'), principal });
  }
  const findHash = (hash: string): KeyHolder | undefined => {
    const entry = byHash.get(hash);
    return entry !== undefined && timingSafeEqual(entry.digest, Buffer.from(hash, 'hex')) ? entry.principal : undefined;
  };
  return { find: (key) => findHash(hashKey(key)), findHash };
}

function holder(principal: KeyHolder): string {
  return principal.kind === 'tenant' ? `tenant ${JSON.stringify(principal.tenant)}` : ARTICLES[principal.kind];
}

const ARTICLES = { admin: 'an admin', gateway: 'a gateway', worker: 'a worker' } as const;
