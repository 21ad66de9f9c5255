import { DEFAULT_PROFILE } from '../model/profile.js';
import type { Config } from './config.js';
import { mayUse } from './effective-profile.js';
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
export function overcommitments(config: Pick<Config, 'types' | 'tiers' | 'defaultTier' | 'tenants'>): Overcommitment[] {
  return [...config.types.values()].flatMap(({ name, capacity }) => {
    if (capacity.ratePerSecond === Infinity || capacity.ratePerSecond === 0) return [];
    const rates = [...config.tenants.keys()]
      .filter((tenant) => mayUse(config, name, tenant))
      .map((tenant) => rateOf(config, name, tenant))
      .filter((rate) => rate > 0 && rate < Infinity);
    const sum = rates.reduce((total, rate) => total + rate, 0);
    if (sum <= capacity.ratePerSecond * (1 + Number.EPSILON * rates.length)) return [];
    const [promised, capped] = [sum, capacity.ratePerSecond].map((rate) => formatQuantity('rate', shortest(rate)));
    const message = `the rates of ${rates.length} tenants for type ${name} add up to ${promised}, more than its capacity of ${capped}: while all of them are busy, their jobs start later than at their rates`;
    return [{ type: name, message }];
  });
}

function rateOf(config: Pick<Config, 'tiers' | 'defaultTier' | 'tenants'>, type: string, tenant: string): number {
  const named = config.tenants.get(tenant);
  return (
    named?.types.get(type)?.ratePerSecond ??
    named?.stated.ratePerSecond ??
    config.tiers.get(named?.tier ?? config.defaultTier)?.stated.ratePerSecond ??
    DEFAULT_PROFILE.ratePerSecond
  );
}

/** A sum of thirds reads better without its last digits. */
function shortest(rate: number): number {
  return Number(rate.toPrecision(6));
}
