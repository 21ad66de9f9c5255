import type { MemoryLimits } from '../../config/config.js';
import type { RedisFacts } from '../../redis/inspect-redis.js';
import { memoryStateOf } from '../../redis/memory-watch.js';
import type { Finding } from './finding.js';

/** What is to be said of a Redis that answers. */
export function redisFindings(
  { version, memory, appendOnly }: Pick<RedisFacts, 'version' | 'memory' | 'appendOnly'>,
  limits: MemoryLimits,
): Finding[] {
  const about = 'redis';
  const state = memoryStateOf(memory, limits);
  return [
    { about, level: 'ok', says: `version ${version} answers` },
    ...(state.kind === 'evicts'
      ? ([
          {
            about,
            level: 'fault',
            says: `it may throw away accepted jobs: maxmemory-policy is ${state.policy}`,
            mend: 'redis-cli CONFIG SET maxmemory-policy noeviction, and the same in its configuration file',
          },
        ] as const)
      : []),
    ...(state.kind === 'high'
      ? ([
          {
            about,
            level: 'fault',
            says: `${state.usedBytes} bytes are used, above the mark of ${state.markBytes}: no job is admitted`,
            mend: 'give it more memory (maxmemory), purge what waits, or raise memory.highWater',
          },
        ] as const)
      : []),
    ...(appendOnly
      ? []
      : ([
          {
            about,
            level: 'warning',
            says: 'it writes no append-only file: jobs are lost when it ends',
            mend: 'redis-cli CONFIG SET appendonly yes, and the same in its configuration file',
          },
        ] as const)),
  ];
}
