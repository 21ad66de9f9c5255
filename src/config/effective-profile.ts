import { createHash } from 'node:crypto';
import { DEFAULT_PROFILE, type Profile } from '../model/profile.js';
import type { Config } from './config.js';
import { effectiveMode } from './effective-mode.js';

/**
 * What a (type, tenant) pair is entitled to. Each field comes from the first that states it: the tenant's override for
 * this type, the tenant's own override, its tier, the default; its mode is {@link effectiveMode}. A tenant that the file does
 * not name has the default tier.
 */
export function effectiveProfile(
  config: Pick<Config, 'types' | 'tiers' | 'defaultTier' | 'tenants'>,
  type: string,
  tenant: string,
): Profile {
  const named = config.tenants.get(tenant);
  return {
    ...DEFAULT_PROFILE,
    ...config.tiers.get(named?.tier ?? config.defaultTier)?.stated,
    ...named?.stated,
    ...named?.types.get(type),
    mode: effectiveMode(config, tenant, type),
  };
}

/** Whether a tenant may use a type: what the tenant's own list says, else its tier's. */
export function mayUse(
  config: Pick<Config, 'tiers' | 'defaultTier' | 'tenants'>,
  type: string,
  tenant: string,
): boolean {
  const named = config.tenants.get(tenant);
  const allow = named?.allow ?? config.tiers.get(named?.tier ?? config.defaultTier)?.allow ?? null;
  return allow === null || allow.has(type);
}

/** The fields in a fixed order: an object's own order is no part of a profile. */
const FIELDS = [
  'ratePerSecond',
  'burst',
  'jobRatePerSecond',
  'depth',
  'maxBytes',
  'maxWaitMs',
  'weight',
  'concurrency',
  'mode',
] as const satisfies readonly (keyof Profile)[];

/** 16 characters that are the same, in every process and version, exactly for the same profile. */
export function profileRevision(profile: Profile): string {
  const text = FIELDS.map((field) => `${field}=${profile[field]}`).join(' ');
  // 96 bits: two of a billion profiles share a revision with a chance of 1 in 10^11.
  return createHash('sha256').update(text).digest('base64url').slice(0, 16);
}
