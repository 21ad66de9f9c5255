import { type Capacity, emissionUs, slackUs } from '../model/profile.js';
import { finite } from './profile-bytes.js';

/** A capacity as scripts read it: T, burst, conc and slack; `statedSlackUs` is the type's own, if it states one. */
export function capacityArguments(
  { ratePerSecond, burst, concurrency }: Capacity,
  statedSlackUs: number | undefined,
): [perUnitUs: number, burst: number, concurrency: number, slackUs: number] {
  const perUnitUs = emissionUs(ratePerSecond);
  return [perUnitUs, burst, finite(concurrency), slackUs(perUnitUs, statedSlackUs)];
}
