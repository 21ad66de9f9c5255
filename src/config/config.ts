import type { CostRule } from '../model/cost.js';
import type { Capacity, Profile } from '../model/profile.js';
import type { WebhookEvent } from '../model/webhook.js';
import type { ConnectionFields } from './connection-schema.js';
import type { ListenAddress } from './listen-address.js';
import type { Mode } from './mode.js';
import type { PolicyConfig, RouteConfig } from './policy-config.js';
import type { RedisAddress, RedisServers } from './redis-address.js';
import type { TrustProxy } from './trust-proxy.js';

export { ConfigError, type ConfigProblem } from './problem.js';
export type { ListenAddress, Mode, PolicyConfig, RedisAddress, RedisServers, RouteConfig, TrustProxy };

/** What Headgate was told, checked and complete. Paths are absolute; `Infinity` means unlimited. */
export interface Config {
  /** The file it came from; `null` when it is the one that comes with Headgate. */
  readonly file: string | null;
  readonly redis: RedisAddress;
  readonly listen: ListenAddress;
  /** Folder of the embedded Redis, its lock and the keys made at first start. It need not exist yet. */
  readonly dataDir: string;
  /** Over how many shards the tenants of each type are spread: 1 to 1024. */
  readonly shards: number;
  readonly durability: 'always' | 'everysec';
  readonly memory: MemoryLimits;
  /** How many tenants are named in metrics, and whether the API shows them without a key. */
  readonly metrics: { readonly tenants: number; readonly open: boolean };
  /** Whether the API shows the dashboard. */
  readonly dashboard: boolean;
  readonly admin: { readonly keys: readonly string[] };
  /** Gateways that may ask on behalf of callers who are not their own. */
  readonly gateways: { readonly keys: readonly string[] };
  /** Workers elsewhere that take jobs over HTTP. */
  /** How long nobody may serve a type that is gone from the file before its jobs fail. */
  readonly forsakenAfterMs: number;
  readonly workers: { readonly keys: readonly WorkerKey[] };
  /** How many may stay connected to one API process at once. */
  readonly connections: ConnectionFields;
  /** Whose `X-Forwarded-For` is believed. */
  readonly trustProxy: TrustProxy;
  readonly types: ReadonlyMap<string, TypeConfig>;
  /** Holds `defaultTier` in any case. */
  readonly tiers: ReadonlyMap<string, TierConfig>;
  readonly defaultTier: string;
  /** The tenants that the file names; there may be others. */
  readonly tenants: ReadonlyMap<string, TenantConfig>;
  readonly policies: ReadonlyMap<string, PolicyConfig>;
  /** In the order of the file; no two match the same requests alike. Their policies exist. */
  readonly routes: readonly RouteConfig[];
  readonly webhooks: WebhooksConfig;
  readonly lockDurationMs: number;
  readonly shutdownGraceMs: number;
  readonly stalledIntervalMs: number;
}

/** How webhooks are delivered. */
export interface WebhooksConfig {
  /** Under way at once in one worker process. */
  readonly slots: number;
  /** Under way at once of one tenant, over all of them. */
  readonly perTenant: number;
  /** Of one tenant. */
  readonly ratePerSecond: number;
  /** Deliveries of one tenant that may wait, and their bytes. */
  readonly depth: number;
  readonly maxBytes: number;
  readonly timeoutMs: number;
  readonly attempts: number;
  readonly backoff: Backoff;
  /** Whether receivers may stand at addresses that are not public. */
  readonly allowPrivate: boolean;
}

/** A key by which workers elsewhere take jobs. */
export interface WorkerKey {
  readonly key: string;
  /** Types whose jobs it opens; `null`: every type without a handler. */
  readonly types: ReadonlySet<string> | null;
}

/** How much of Redis' memory jobs may fill. */
export interface MemoryLimits {
  /** Share of `maxmemory`, where it has one. */
  readonly highWater: number;
  /** `Infinity` where nothing is said. */
  readonly highWaterBytes: number;
  /** Whether a Redis that evicts will do. */
  readonly allowEviction: boolean;
}

/** A job type. */
export interface TypeConfig {
  readonly name: string;
  /** Absolute path of the module that runs its jobs; `null` when only workers elsewhere serve it. Nobody looked whether it exists. */
  readonly handler: string | null;
  /** What becomes of jobs above their rate, where neither the tenant nor its tier says. */
  readonly mode: Mode;
  /** A policy at the door, before everything that would queue; `null`: none. It exists. */
  readonly policy: string | null;
  readonly cost: CostRule;
  /** JSON Schema of a job's `data`, itself checked against its draft; `null` when anything goes. */
  readonly dataSchema: object | null;
  readonly capacity: Capacity;
  readonly timeoutMs: number;
  /** Tries in all, the first included. */
  readonly attempts: number;
  readonly backoff: Backoff;
  /** Where a job that is tried again waits, within its priority. */
  readonly retry: 'front' | 'back';
  /** For how long a busy upstream holds a bucket, or the type, at most. */
  readonly maxHoldMs: number;
  /** How often a job may come back from a busy upstream before that uses an attempt. */
  readonly maxReturns: number;
  /** Largest heap of a thread of an isolated handler. */
  readonly threadMemoryBytes: number;
  readonly keepResults: { readonly ageMs: number; readonly count: number };
  /** `undefined`: what the model derives from the rate. */
  readonly slackUs: number | undefined;
  /** Largest payload of one job, bytes of JSON text. */
  readonly maxPayloadBytes: number;
  /** For the handler; plain JSON. */
  readonly options: Readonly<Record<string, unknown>>;
}

/** The wait before a retry: the same each time, or doubled each time up to `maxMs`. */
export interface Backoff {
  readonly type: 'fixed' | 'exponential';
  readonly delayMs: number;
  readonly maxMs: number;
}

/** The fields of a profile that one layer states; the others come from the layers beneath it. */
export type ProfileOverride = Partial<Profile>;

/** A profile that many tenants share. */
export interface TierConfig {
  readonly name: string;
  readonly stated: ProfileOverride;
  /** `null`: what the type says. */
  readonly mode: Mode | null;
  /** Types that may be used; `null`: all. */
  readonly allow: ReadonlySet<string> | null;
}

/** A tenant that the file names. */
export interface TenantConfig {
  readonly id: string;
  readonly tier: string;
  /** API keys that prove the tenant, each once. */
  readonly keys: readonly string[];
  /** Types that may be used; `null`: what the tier says. */
  readonly allow: ReadonlySet<string> | null;
  readonly stated: ProfileOverride;
  /** `null`: what the tier says. */
  readonly mode: Mode | null;
  /** By type. */
  readonly types: ReadonlyMap<string, ProfileOverride>;
  /** By type, where it is stated for one. */
  readonly typeModes: ReadonlyMap<string, Mode>;
  readonly webhook: TenantWebhook;
}

/** Where a tenant is told of ends of its jobs. */
export interface TenantWebhook {
  /** `null`: nowhere, but for jobs that say so themselves. */
  readonly url: string | null;
  readonly events: readonly WebhookEvent[];
  /** `null`: nothing can be signed, so nothing is sent. */
  readonly secret: string | null;
}
