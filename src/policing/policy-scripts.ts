import type { PolicyConfig } from '../config/policy-config.js';
import type { RedisLink } from '../redis/connection.js';
import { loadLibrary } from '../redis/script.js';
import { library as leases } from './lease-scripts.js';
import { library as limits } from './scripts.js';

/**
 * Gives Redis the scripts that policies are decided with, before the first call needs them, which may not have the time.
 * One that finds them missing all the same gives them itself. Rejects with Redis' error.
 */
export async function loadPolicyScripts(redis: RedisLink, policies: ReadonlyMap<string, PolicyConfig>): Promise<void> {
  const places = new Set([...policies.values()].map(({ place }) => place));
  await Promise.all([
    places.has('redis') && loadLibrary(redis, limits),
    places.has('leased') && loadLibrary(redis, leases),
  ]);
}
