import { inspectMasters } from './inspect-masters.js';
import type { MissingRights } from './missing-rights.js';
import { misconfigured, type RedisFault } from './redis-fault.js';
import { type ClusterTarget, type RedisTarget, userOf } from './redis-target.js';

/** The Redis that was named cannot be used, and will not be by itself; the message is one line for people. */
export class UnusableRedis extends Error {
  override readonly name = 'UnusableRedis';
}

/**
 * Throws {@link UnusableRedis} when a Redis that answers cannot be used as the configuration has it. One that does not
 * answer passes: it may come. No key is touched.
 */
export async function refuseUnusable(target: RedisTarget | ClusterTarget, withinMs: number): Promise<void> {
  for (const found of await inspectMasters(target, withinMs, true)) {
    const fault = 'facts' in found ? faultOfRights(found.facts.missing, target) : found.fault;
    if (fault?.kind !== 'misconfigured') continue;
    const where = found.server === undefined ? '' : ` (${found.server})`;
    throw new UnusableRedis(`${fault.field}: ${fault.says}${where}; ${fault.mend}`);
  }
}

/** What is wrong where rights are missing. */
export function faultOfRights(
  missing: MissingRights | undefined,
  target: RedisTarget | ClusterTarget,
): RedisFault | undefined {
  if (missing === undefined) return undefined;
  const { commands, keys, channels } = missing;
  const parts = [
    ...(commands.length > 0 ? [`may not run ${commands.join(', ')}`] : []),
    ...(keys.length > 0 ? [`may not use keys ${keys.join(' and ')}`] : []),
    ...(channels.length > 0 ? [`may not use channels ${channels.join(' and ')}`] : []),
  ];
  if (parts.length === 0) return undefined;
  return misconfigured({
    field: 'redis.username',
    says: `user "${userOf(target)}" ${parts.join(' and ')}`,
    mend: 'docs/redis.md has the rights that are needed',
  });
}
