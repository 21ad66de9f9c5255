import type { Config, TypeConfig } from '../config/config.js';
import { effectiveProfile, mayUse } from '../config/effective-profile.js';

/** What the door has to know about a job type. */
export type DoorType = Pick<TypeConfig, 'cost' | 'dataSchema' | 'maxPayloadBytes' | 'policy' | 'attempts' | 'backoff'>;

/** What is asked of a webhook that a job brings along. */
export interface WebhookRules {
  /** Whether there is a secret to sign with. */
  readonly signed: boolean;
  /** Whether it may lead to addresses that are not public. */
  readonly allowPrivate: boolean;
}

/** What the door has to know about types and tenants. Asked anew for every request: configuration changes while we serve. */
export interface Door {
  type(name: string): DoorType | undefined;
  typeNames(): readonly string[];
  /** The tier that a tenant is in. */
  tier(tenant: string): string;
  /** Whether the tenant, or its tier, may use the type. */
  allowed(tenant: string, type: string): boolean;
  /** What webhooks of the tenant's jobs need. */
  webhooks(tenant: string): WebhookRules;
  /** Bytes of payload that the tenant's jobs of this type may take while they wait: a larger job never fits. */
  maxBytes(tenant: string, type: string): number;
}

/** The door that a configuration describes. */
export function doorOf(config: Config): Door {
  const names = [...config.types.keys()];
  return {
    type: (name) => config.types.get(name),
    typeNames: () => names,
    tier: (tenant) => config.tenants.get(tenant)?.tier ?? config.defaultTier,
    allowed: (tenant, type) => mayUse(config, type, tenant),
    webhooks: (tenant) => ({
      signed: (config.tenants.get(tenant)?.webhook.secret ?? null) !== null,
      allowPrivate: config.webhooks.allowPrivate,
    }),
    maxBytes: (tenant, type) => effectiveProfile(config, type, tenant).maxBytes,
  };
}
