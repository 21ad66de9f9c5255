import type { RedisLink } from '../src/redis/connection.js';
import { openTypeSource } from '../src/shaping/open-type-source.js';
import type { Settings } from '../src/shaping/settings.js';
import type { Logger } from '../src/telemetry/logger.js';
import type { ServedType } from './load-types.js';
import { inProcess, type Performer } from './perform.js';
import { Runner } from './runner.js';
import { inThreads } from './threads/in-threads.js';

/** Largest result that is stored: events carry the whole of it. */
const MAX_RESULT_BYTES = 1024 * 1024;
/** How long a handler may go on after its signal was aborted. */
const ABANDON_AFTER_MS = 5000;

/** The slots of one type in this process. */
export function makeRunner(
  type: ServedType,
  redis: RedisLink,
  settings: Settings,
  { worker, lockMs, log }: { worker: string; lockMs: number; log: Logger },
): Runner {
  const { config, slots } = type;
  const source = openTypeSource(redis, config.name, settings, { worker, lockMs });
  const { timeoutMs, attempts, backoff, retry, maxHoldMs, maxReturns } = config;
  const plan = {
    ...{ timeoutMs, attempts, backoff, retry, maxHoldMs, maxReturns },
    performer: performerOf(type, log),
    abandonAfterMs: ABANDON_AFTER_MS,
  };
  return new Runner(source, slots, plan, ({ id, tenant, type, requestId }) =>
    log.child({ job: id, tenant, type, requestId }),
  );
}

function performerOf({ config, handler, slots }: ServedType, log: Logger): Performer {
  const terms = { options: config.options, maxResultBytes: MAX_RESULT_BYTES };
  if (handler.isolate !== true || config.handler === null) return inProcess(handler, terms);
  return inThreads({
    ...terms,
    file: config.handler,
    threads: slots,
    memoryBytes: config.threadMemoryBytes,
    onError: (error) => log.warn({ err: error, type: config.name }, 'a thread died while it had nothing to do'),
    ...(handler.timeoutMs !== undefined && { timeoutMs: handler.timeoutMs }),
  });
}
