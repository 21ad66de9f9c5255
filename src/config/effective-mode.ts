import type { Config } from './config.js';
import { MODES, type Mode } from './mode.js';

/**
 * Whether a tenant's jobs of a type are policed or shaped. The first that states it counts: the tenant's override for
 * this type, the tenant's own, its tier, the type; else they are shaped. A tenant that the file does not name has the
 * default tier.
 */
export function effectiveMode(
  config: Pick<Config, 'types' | 'tiers' | 'defaultTier' | 'tenants'>,
  tenant: string,
  type: string,
): Mode {
  const named = config.tenants.get(tenant);
  return (
    named?.typeModes.get(type) ??
    named?.mode ??
    config.tiers.get(named?.tier ?? config.defaultTier)?.mode ??
    config.types.get(type)?.mode ??
    MODES[0]
  );
}
