import { openPolicing } from '../policing/open-policing.js';
import type { OutageLogger } from '../policing/outage-log.js';
import type { Policing } from '../policing/policing.js';
import { loadPolicyScripts } from '../policing/policy-scripts.js';
import { routeTable } from '../policing/route-table.js';
import { closeConnection, openConnection, untilTried } from '../redis/connection.js';
import { onServer } from '../redis/masters.js';
import { targetOf } from '../redis/redis-target.js';
import { consoleLogger } from './console-logger.js';
import { Guard } from './guard.js';
import type { HeadgateOptions } from './plugin-options.js';
import { type PluginSettings, readOptions } from './read-options.js';

/** A guard and what was opened for it. */
export interface OpenGuard<Request> {
  readonly guard: Guard<Request>;
  /** Resolves once Redis was found to be there or away; at once where none is needed. */
  readonly tried: Promise<void>;
  /** Closes what was opened, not what the program brought. May be called twice. */
  close(): Promise<void>;
}

/** How long a command of ours may wait for its answer; a policy's own deadline is shorter. */
const COMMAND_MS = 2000;

/** How long the first requests may wait for the connection. */
const FIRST_CONNECTION_MS = 1000;

/**
 * Opens what the options ask for.
 *
 * @param addressOf The client's address as the framework knows it.
 * @param mustHold Refuses options that hold no request to anything.
 * @throws ConfigError when the options cannot be used.
 */
export function openGuard<Request, Response>(
  options: HeadgateOptions<Request, Response>,
  addressOf: (request: Request) => string | undefined,
  mustHold = false,
): OpenGuard<Request> {
  const { policing: theirs } = options;
  const settings = readOptions({ ...options }, theirs && ((policy) => theirs.has(policy)), mustHold);
  const own = theirs === undefined ? openOwn(settings, options.logger ?? consoleLogger) : undefined;
  const policing = theirs ?? own?.policing;
  if (policing === undefined) throw new Error('a guard has a policing of its own or one that it was given');
  const { policy, cost, caller, skip } = options;
  let closed: Promise<void> | undefined;
  return {
    guard: new Guard({
      policing,
      routes: routeTable(settings.routes),
      options: { policy, cost, caller, skip },
      addressOf,
    }),
    tried: own?.tried ?? Promise.resolve(),
    close() {
      closed ??= own?.close() ?? Promise.resolve();
      return closed;
    },
  };
}

interface OwnPolicing {
  readonly policing: Policing;
  readonly tried: Promise<void>;
  close(): Promise<void>;
}

function openOwn({ policies, redis }: PluginSettings, logger: OutageLogger): OwnPolicing {
  const connection =
    redis !== undefined && redis.kind !== 'embedded'
      ? openConnection(targetOf(redis), { name: 'plugin', deadlineMs: COMMAND_MS })
      : undefined;
  if (connection) onServer(connection, () => loadPolicyScripts(connection, policies).catch(() => undefined));
  const policing = openPolicing({ policies, redis: connection, logger });
  return {
    policing,
    tried: connection === undefined ? Promise.resolve() : untilTried(connection, FIRST_CONNECTION_MS),
    async close() {
      await policing.close();
      if (connection !== undefined) closeConnection(connection);
    },
  };
}
