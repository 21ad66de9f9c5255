import { DEFAULT_PROFILE } from '../model/profile.js';
import type { Config, TenantConfig, TierConfig } from './config.js';
import { formatQuantity } from './quantity.js';

/** A type whose tenants are promised more than it lets through, and a sentence that says so. */
export interface Overcommitment {
  readonly type: string;
  readonly message: string;
}

/**
 * Types whose known tenants are promised more, together, than the type lets through. That is allowed,
 * since seldom everybody is busy at once; but while they are, starts come later than by their rates.
 *
 * Tenants without a limit are promised a share and no rate, and those that nobody named are not counted.
 */
export function overcommitments(config: Pick<Config, 'types' | 'tiers' | 'tenants'>): Overcommitment[] {
  return [...config.types.values()].flatMap(({ name, capacity }) => {
    if (capacity.ratePerSecond === Infinity || capacity.ratePerSecond === 0) return [];
    const rates = [...config.tenants.values()]
      .map((tenant) => promisedRate(config.tiers.get(tenant.tier), tenant, name))
      .filter((rate) => rate > 0 && rate < Infinity);
    const sum = rates.reduce((total, rate) => total + rate, 0);
    if (sum <= capacity.ratePerSecond * (1 + Number.EPSILON * rates.length)) return [];
    const [promised, capped] = [sum, capacity.ratePerSecond].map((rate) => formatQuantity('rate', shortest(rate)));
    const message = `the rates of ${rates.length} tenants for type ${name} add up to ${promised}, more than its capacity of ${capped}: while all of them are busy, their jobs start later than at their rates`;
    return [{ type: name, message }];
  });
}

/** The rate of a tenant for a type, 0 where it may not use it. Looked at for every tenant there is, so nothing is built. */
function promisedRate(tier: TierConfig | undefined, { types, stated, allow }: TenantConfig, type: string): number {
  const allowed = allow ?? tier?.allow ?? null;
  if (allowed !== null && !allowed.has(type)) return 0;
  return (
    types.get(type)?.ratePerSecond ??
    stated.ratePerSecond ??
    tier?.stated.ratePerSecond ??
    DEFAULT_PROFILE.ratePerSecond
  );
}

/** A sum of thirds reads better without its last digits. */
function shortest(rate: number): number {
  return Number(rate.toPrecision(6));
}
