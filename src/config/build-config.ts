import type { CostRule } from '../model/cost.js';
import type { Profile } from '../model/profile.js';
import { WEBHOOK_EVENTS } from '../model/webhook.js';
import { policyConfig, routeConfig } from './build-policy.js';
import type {
  Config,
  ProfileOverride,
  TenantConfig,
  TenantWebhook,
  TierConfig,
  TypeConfig,
  WebhooksConfig,
  WorkerKey,
} from './config.js';
import type { ConfigFields, TenantFields, TierFields, WorkerKeyFields } from './config-schema.js';
import type { Mode } from './mode.js';
import type { StatedProfile } from './profile-schema.js';
import type { TrustProxy } from './trust-proxy.js';
import type { TypeFields } from './type-schema.js';
import type { TenantWebhookFields, WebhooksFields } from './webhook-schema.js';

/** What does not come from the fields of the file. */
export interface Surroundings extends Pick<Config, 'file' | 'dataDir' | 'redis' | 'listen' | 'shutdownGraceMs'> {
  readonly adminKeys: readonly string[];
  /** Said on the command line. */
  readonly allowEviction: boolean;
  /** JSON Schemas of payloads, by type. */
  readonly dataSchemas: ReadonlyMap<string, object>;
}

/** The configuration in the program's words, from fields that were read and found to agree. */
export function buildConfig(
  fields: ConfigFields,
  { adminKeys, allowEviction, dataSchemas, ...rest }: Surroundings,
): Config {
  const tiers = mapEntries(fields.tiers, tierConfig);
  if (!tiers.has(fields.defaultTier))
    tiers.set(fields.defaultTier, { name: fields.defaultTier, stated: {}, mode: null, allow: null });
  return {
    ...rest,
    shards: shardsOf(fields),
    durability: fields.durability,
    memory: {
      highWater: fields.memory.highWater,
      highWaterBytes: fields.memory.highWaterBytes ?? Infinity,
      allowEviction: allowEviction || fields.memory.allowEviction,
    },
    metrics: fields.metrics,
    dashboard: fields.dashboard,
    admin: { keys: adminKeys },
    workers: { keys: fields.workers.keys.map(workerKey) },
    connections: fields.connections,
    gateways: { keys: [...new Set(fields.gateways.keys)] },
    trustProxy: trustProxy(fields.trustProxy),
    types: mapEntries(fields.types, (name, type) => typeConfig(name, type, dataSchemas.get(name) ?? null)),
    tiers,
    defaultTier: fields.defaultTier,
    tenants: mapEntries(fields.tenants, (id, tenant) => tenantConfig(id, tenant, fields.defaultTier)),
    policies: mapEntries(fields.policies, policyConfig),
    routes: fields.routes.map(routeConfig),
    webhooks: webhooksConfig(fields.webhooks),
    forsakenAfterMs: fields.forsakenAfter,
    lockDurationMs: fields.lockDuration,
    stalledIntervalMs: fields.stalledInterval,
  };
}

/** Shards of each type on a cluster, unless stated: some for each of a dozen masters. */
const SHARDS_ON_CLUSTER = 16;

/** Over how many shards the tenants of each type are spread. */
function shardsOf({ shards, redis }: Pick<ConfigFields, 'shards' | 'redis'>): number {
  return shards ?? ('cluster' in redis ? SHARDS_ON_CLUSTER : 1);
}

/** A cost rule as the program knows it. */
export function costRule(fields: TypeFields['cost']): CostRule {
  if (typeof fields === 'number') return { kind: 'fixed', cost: fields };
  if ('request' in fields) return { kind: 'request', ...fields.request, default: fields.default };
  return { kind: 'field', ...fields };
}

/** A worker's key, as it stands alone or with the types that it is for. */
export function workerKey(fields: WorkerKeyFields): WorkerKey {
  return typeof fields === 'string' ? { key: fields, types: null } : { key: fields.key, types: new Set(fields.types) };
}

/** The keys of a tenant, each once. */
export function tenantKeys(fields: TenantFields): readonly string[] {
  return [...new Set([...(fields.key === undefined ? [] : [fields.key]), ...(fields.keys ?? [])])];
}

function typeConfig(name: string, fields: TypeFields, dataSchema: object | null): TypeConfig {
  return {
    name,
    handler: fields.handler ?? null,
    mode: fields.mode,
    policy: fields.policy ?? null,
    cost: costRule(fields.cost),
    dataSchema,
    capacity: {
      ratePerSecond: fields.capacity.rate,
      burst: fields.capacity.burst,
      concurrency: fields.capacity.concurrency,
    },
    timeoutMs: fields.timeout,
    attempts: fields.attempts,
    backoff: { type: fields.backoff.type, delayMs: fields.backoff.delay, maxMs: fields.backoff.max },
    retry: fields.retry,
    maxHoldMs: fields.maxHold,
    maxReturns: fields.maxReturns,
    threadMemoryBytes: fields.threadMemory,
    keepResults: { ageMs: fields.keepResults.age, count: fields.keepResults.count },
    slackUs: fields.slack === undefined ? undefined : fields.slack * 1000,
    maxPayloadBytes: fields.maxPayload,
    options: fields.options,
  };
}

function tierConfig(name: string, fields: TierFields): TierConfig {
  return { name, stated: profileOverride(fields), mode: fields.mode ?? null, allow: allowed(fields.allow) };
}

function tenantConfig(id: string, fields: TenantFields, defaultTier: string): TenantConfig {
  return {
    id,
    tier: fields.tier ?? defaultTier,
    keys: tenantKeys(fields),
    allow: allowed(fields.allow),
    stated: profileOverride(fields),
    mode: fields.mode ?? null,
    types: mapEntries(fields.types ?? new Map(), (_type, stated: StatedProfile) => profileOverride(stated)),
    typeModes: modesByType(fields.types),
    webhook: tenantWebhook(fields.webhook),
  };
}

/** What a tenant has about whom nothing was said. */
export const NO_WEBHOOK: TenantWebhook = { url: null, events: WEBHOOK_EVENTS, secret: null };

/** A tenant's webhook; what is not stated is as it is beneath. */
export function tenantWebhook(stated: TenantWebhookFields = {}, beneath: TenantWebhook = NO_WEBHOOK): TenantWebhook {
  return {
    url: stated.url ?? beneath.url,
    events: stated.events ?? beneath.events,
    secret: stated.secret ?? beneath.secret,
  };
}

function webhooksConfig({ rate, timeout, backoff, ...rest }: WebhooksFields): WebhooksConfig {
  const { delay, max } = backoff;
  return {
    ...rest,
    ratePerSecond: rate,
    timeoutMs: timeout,
    backoff: { type: 'exponential', delayMs: delay, maxMs: max },
  };
}

/** Names of profile fields in the file and in the program. */
export const PROFILE_FIELDS = [
  ['rate', 'ratePerSecond'],
  ['burst', 'burst'],
  ['jobRate', 'jobRatePerSecond'],
  ['depth', 'depth'],
  ['maxBytes', 'maxBytes'],
  ['maxWait', 'maxWaitMs'],
  ['weight', 'weight'],
  ['concurrency', 'concurrency'],
] as const satisfies readonly (readonly [keyof StatedProfile, keyof Profile])[];

/** What a layer states of a profile, in the program's words. */
export function profileOverride(stated: StatedProfile): ProfileOverride {
  const override: { -readonly [Field in (typeof PROFILE_FIELDS)[number][1]]?: number } = {};
  for (const [written, field] of PROFILE_FIELDS) {
    const value = stated[written];
    if (value !== undefined) override[field] = value;
  }
  return override;
}

/** The modes that a tenant states for single types. */
export function modesByType(types: TenantFields['types']): ReadonlyMap<string, Mode> {
  return new Map([...(types ?? [])].flatMap(([type, { mode }]) => (mode === undefined ? [] : [[type, mode]])));
}

function trustProxy(fields: ConfigFields['trustProxy']): TrustProxy {
  if (typeof fields === 'number') return fields;
  return typeof fields === 'boolean' ? false : fields.flat();
}

function allowed(types: readonly string[] | undefined): ReadonlySet<string> | null {
  return types === undefined ? null : new Set(types);
}

function mapEntries<V, W>(map: ReadonlyMap<string, V>, convert: (name: string, value: V) => W): Map<string, W> {
  return new Map([...map].map(([name, value]) => [name, convert(name, value)]));
}
