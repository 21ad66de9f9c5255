import type { Config } from '../config/config.js';
import type { ApiMetrics } from '../http/api-metrics.js';
import type { RedisLink } from '../redis/connection.js';
import { DROPPED, Outbox } from '../shaping/outbox.js';
import { RedisShaping } from '../shaping/redis-shaping.js';
import { RemoteWork } from '../shaping/remote-work.js';
import type { Settings } from '../shaping/settings.js';
import type { Logger } from '../telemetry/logger.js';
import { logRun, logUnseen } from '../telemetry/run-line.js';
import type { LiveOverrides } from './live-overrides.js';

export interface RemoteWorkParts {
  readonly commands: RedisLink;
  readonly settings: Settings;
  readonly overrides: LiveOverrides;
  readonly metrics: ApiMetrics;
  readonly log: Logger;
}

/** The types without a handler, for workers elsewhere: their runs are logged and counted here as a pool's are in its process. */
export function openRemoteWork(
  config: Config,
  { commands, settings, overrides, metrics, log }: RemoteWorkParts,
): RemoteWork {
  return new RemoteWork(
    { redis: commands, subscriber: overrides.subscriber, settings, types: config.types.values() },
    {
      lockMs: config.lockDurationMs,
      stalledIntervalMs: config.stalledIntervalMs,
      beforeWork: () => overrides.tried(),
      outbox: new Outbox(commands, settings.shards, new RedisShaping(commands, settings), (dropped) =>
        log.warn(dropped, DROPPED),
      ),
      observer: {
        started: (job, slip) => metrics.runs.started(job, slip),
        ended: (run) => {
          metrics.runs.ended(run);
          logRun(log, run);
        },
        unseen: (ends) => {
          metrics.runs.unseen(ends);
          logUnseen(log, ends);
        },
        recovered: (type, ids) => {
          metrics.runs.recovered(type, ids.length);
          log.warn({ ids }, 'jobs of a worker that is gone were taken back');
        },
      },
      onError: (error) => log.error({ err: error }, 'remote work'),
    },
  );
}
