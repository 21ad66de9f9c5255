import { createHash, randomBytes } from 'node:crypto';
import { channelOn, orUnavailable, type RedisLink } from '../redis/connection.js';
import {
  API_KEY_TENANTS,
  API_KEYS_CHANNEL,
  apiKeyKey,
  decodeTenant,
  encodeTenant,
  tenantKeysKey,
} from '../redis/keys.js';
import { type Argument, runScript, type Script } from '../redis/script.js';
import { scripts } from './api-key-scripts.js';

/** A tenant may have so many keys at once that were made at run time. */
export const MOST_KEYS = 100;

/** A key as it is shown afterwards. Instants are milliseconds since 1970, by the clock of Redis. */
export interface ShownKey {
  readonly id: string;
  /** How the key begins. */
  readonly prefix: string;
  readonly createdAtMs: number;
  /** To the minute; `null` when it never was. */
  readonly lastUsedAtMs: number | null;
}

/** A key that was just made: the one time at which anybody sees it. */
export interface NewKey {
  readonly id: string;
  readonly prefix: string;
  readonly createdAtMs: number;
  readonly key: string;
}

/**
 * Keys of tenants that are made and revoked at run time. Redis has their SHA-256 alone. Every method throws RedisUnavailable
 * when Redis did not answer.
 */
export interface TenantKeys {
  /** Makes a key; `undefined` when the tenant has {@link MOST_KEYS} already. */
  create(tenant: string): Promise<NewKey | undefined>;
  /** The keys of a tenant, oldest first. */
  list(tenant: string): Promise<readonly ShownKey[]>;
  /** Revokes a key, in every process. False when the tenant has none of this id. */
  revoke(tenant: string, id: string): Promise<boolean>;
  /** Tenants that have keys, in the order of their encoded ids, behind `after`. */
  tenants(after: string, limit: number): Promise<readonly string[]>;
}

/** {@link TenantKeys} in Redis. The connection is the caller's to close. */
export class RedisTenantKeys implements TenantKeys {
  readonly #redis: RedisLink;

  constructor(redis: RedisLink) {
    this.#redis = redis;
  }

  async create(tenant: string): Promise<NewKey | undefined> {
    const key = `hg_${randomBytes(32).toString('base64url')}`;
    const id = randomBytes(8).toString('hex');
    const prefix = key.slice(0, 8);
    const argv = [encodeTenant(tenant), id, sha256(key), prefix, MOST_KEYS, channelOn(this.#redis, API_KEYS_CHANNEL)];
    const added = await this.#run(scripts.addKey, argv);
    return added && { id, prefix, createdAtMs: added.createdAtMs, key };
  }

  async list(tenant: string): Promise<readonly ShownKey[]> {
    const held = await orUnavailable(() => this.#redis.hgetall(tenantKeysKey(encodeTenant(tenant))));
    const shown = await Promise.all(Object.entries(held).map(([id, hash]) => this.#show(id, hash)));
    return shown.filter((key) => key !== undefined).sort((one, other) => one.createdAtMs - other.createdAtMs);
  }

  async revoke(tenant: string, id: string): Promise<boolean> {
    return (
      (await this.#run(scripts.revokeKey, [encodeTenant(tenant), id, channelOn(this.#redis, API_KEYS_CHANNEL)])) !== ''
    );
  }

  async tenants(after: string, limit: number): Promise<readonly string[]> {
    const from = after === '' ? '-' : `(${encodeTenant(after)}`;
    const names = await orUnavailable(() => this.#redis.zrangebylex(API_KEY_TENANTS, from, '+', 'LIMIT', 0, limit));
    return names.map(decodeTenant);
  }

  /** Whose key has this hash; `undefined` when nobody's has. */
  async find(hash: string): Promise<string | undefined> {
    const tenant = await orUnavailable(() => this.#redis.hget(apiKeyKey(hash), 'tenant'));
    return tenant === null ? undefined : decodeTenant(tenant);
  }

  /** Notes that the key of this hash was used, to the minute. */
  async use(hash: string): Promise<void> {
    await this.#run(scripts.useKey, [hash]);
  }

  async #show(id: string, hash: string): Promise<ShownKey | undefined> {
    const [prefix, created, used] = await orUnavailable(() =>
      this.#redis.hmget(apiKeyKey(hash), 'prefix', 'created', 'used'),
    );
    if (!prefix || !created) return undefined;
    return { id, prefix, createdAtMs: Number(created), lastUsedAtMs: used ? Number(used) : null };
  }

  #run<Reply>(script: Script<Reply>, argv: readonly Argument[]): Promise<Reply> {
    return orUnavailable(() => runScript(this.#redis, { script, keys: [API_KEY_TENANTS], argv }));
  }
}

function sha256(key: string): string {
  return createHash('sha256').update(key, 'utf8').digest('hex');
}
