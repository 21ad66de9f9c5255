import type { Redis } from 'ioredis';
import { type Settings, typeSettings } from '../src/shaping/settings.js';
import { WorkSource } from '../src/shaping/work-source.js';
import type { Logger } from '../src/telemetry/logger.js';
import type { ServedType } from './load-types.js';
import { Runner } from './runner.js';

/** Largest result that is stored: events carry the whole of it. */
const MAX_RESULT_BYTES = 1024 * 1024;
/** How long a handler may go on after its signal was aborted. */
const ABANDON_AFTER_MS = 5000;

/** The slots of one type in this process. */
export function makeRunner(
  { config, handler, slots }: ServedType,
  redis: Redis,
  settings: Settings,
  { worker, lockMs, log }: { worker: string; lockMs: number; log: Logger },
): Runner {
  const source = new WorkSource(redis, config.name, typeSettings(settings, config.name), { worker, lockMs });
  const { timeoutMs, attempts, backoff, maxHoldMs, maxReturns, options } = config;
  const plan = {
    ...{ handler, timeoutMs, attempts, backoff, maxHoldMs, maxReturns, options },
    maxResultBytes: MAX_RESULT_BYTES,
    abandonAfterMs: ABANDON_AFTER_MS,
  };
  return new Runner(source, slots, plan, ({ id, tenant, type, requestId }) =>
    log.child({ job: id, tenant, type, requestId }),
  );
}
