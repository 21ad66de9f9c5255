import type { Config } from '../config/config.js';
import type { PolicyConfig } from '../config/policy-config.js';
import { openPolicing } from '../policing/open-policing.js';
import type { Policing } from '../policing/policing.js';
import { loadPolicyScripts } from '../policing/policy-scripts.js';
import { closeConnection, openConnection, untilTried } from '../redis/connection.js';
import { onServer } from '../redis/masters.js';
import { isPassing } from '../redis/outage.js';
import type { ClusterTarget, RedisTarget } from '../redis/redis-target.js';
import { type ScriptWatcher, watchScripts } from '../redis/script.js';
import type { Logger } from '../telemetry/logger.js';

/** The policies of the API, and the connection that they are decided over. */
export interface ApiPolicing {
  readonly policing: Policing;
  /** Has every call of a script told, where policies ask Redis. */
  watchScripts(watcher: ScriptWatcher): void;
  /** Resolves once Redis was reached, or could not be. */
  tried(): Promise<void>;
  /** Gives back leases, which takes Redis, and then hangs up. */
  close(): Promise<void>;
}

/**
 * A connection of its own: an answer that is due within some tens of milliseconds must not wait behind a batch of a
 * thousand jobs. Each policy has its own deadline; this one ends what nobody waits for any more.
 */
const DEADLINE_MS = 2000;

/** Opens the policies of a configuration. Redis need not be there: until it is, they decide as their `onOutage` says. */
export function openApiPolicing(
  { policies }: Pick<Config, 'policies'>,
  target: RedisTarget | ClusterTarget,
  logger: Logger,
): ApiPolicing {
  if (![...policies.values()].some(needsRedis)) {
    const policing = openPolicing({ policies, logger });
    return {
      policing,
      watchScripts: () => undefined,
      tried: async () => undefined,
      close: () => policing.close(),
    };
  }
  const redis = openConnection(target, { name: 'api-policing', deadlineMs: DEADLINE_MS });
  onServer(redis, () => {
    loadPolicyScripts(redis, policies).catch((error: unknown) => {
      if (!isPassing(error)) logger.error({ err: error }, 'the scripts of policies could not be loaded');
    });
  });
  const policing = openPolicing({ policies, redis, logger });
  return {
    policing,
    watchScripts: (watcher) => watchScripts(redis, watcher),
    tried: () => untilTried(redis, DEADLINE_MS),
    close: async () => {
      await policing.close();
      closeConnection(redis);
    },
  };
}

/** Whether a policy goes on deciding, or at least lets pass, while Redis is away. */
export function outlivesRedis(policy: PolicyConfig): boolean {
  return !needsRedis(policy) || policy.onOutage !== 'closed';
}

function needsRedis({ place }: PolicyConfig): boolean {
  return place !== 'local';
}
