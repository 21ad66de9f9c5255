import type { Config } from '../config/config.js';
import type { ApiMetrics } from '../http/api-metrics.js';
import type { RedisLink } from '../redis/connection.js';
import { type Agent, makeAgent } from '../shaping/agent.js';
import { ForsakenTypes } from '../shaping/forsaken-types.js';
import { DROPPED, Outbox } from '../shaping/outbox.js';
import { RedisShaping } from '../shaping/redis-shaping.js';
import type { Settings } from '../shaping/settings.js';
import type { Logger } from '../telemetry/logger.js';
import { logUnseen } from '../telemetry/run-line.js';

/** Looks within the time after which a type is forsaken, and how far apart they lie at most, in milliseconds. */
const LOOKS = 4;
const LONGEST_PAUSE_MS = 60_000;

/** Has an API process look for types that nobody serves any more, at once and every so often. */
export function watchForsakenTypes(
  { forsakenAfterMs }: Config,
  { commands, settings, metrics, log }: { commands: RedisLink; settings: Settings; metrics: ApiMetrics; log: Logger },
): Pick<Agent, 'start' | 'stop'> {
  const outbox = new Outbox(commands, settings.shards, new RedisShaping(commands, settings), (dropped) =>
    log.warn(dropped, DROPPED),
  );
  const types = new ForsakenTypes(commands, settings, {
    afterMs: forsakenAfterMs,
    onUnseen: (ends) => {
      metrics.runs.unseen(ends);
      logUnseen(log, ends);
    },
    drain: (type) => outbox.drain(type),
  });
  const agent = makeAgent(() => types.look(), {
    everyMs: Math.min(forsakenAfterMs / LOOKS, LONGEST_PAUSE_MS),
    onError: (error) => log.error({ err: error }, 'types that nobody serves cannot be looked for'),
  });
  return {
    start: () => {
      void agent.runOnce();
      agent.start();
    },
    stop: agent.stop,
  };
}
