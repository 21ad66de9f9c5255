import type { Config } from './config.js';
import { type Overcommitment, overcommitments } from './overcommitment.js';
import { type PausedRates, pausedRates } from './paused-rates.js';

/** What a configuration may say and may not mean. */
export function configWarnings(
  config: Pick<Config, 'types' | 'tiers' | 'tenants'>,
): readonly (PausedRates | Overcommitment)[] {
  return [...pausedRates(config), ...overcommitments(config)];
}
