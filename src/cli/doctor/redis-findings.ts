import type { MemoryLimits } from '../../config/config.js';
import type { RedisFacts } from '../../redis/inspect-redis.js';
import { memoryStateOf } from '../../redis/memory-watch.js';
import type { Finding } from './finding.js';

/** Functions came with Redis 7. */
const OLDEST_MAJOR = 7;

/** What is to be said of a Redis that answers. */
export function redisFindings({ version, memory, appendOnly, isCluster }: RedisFacts, limits: MemoryLimits): Finding[] {
  const about = 'redis';
  const isOld = Number.parseInt(version, 10) < OLDEST_MAJOR;
  const state = memoryStateOf(memory, limits);
  return [
    isOld
      ? {
          about,
          level: 'fault',
          says: `version ${version} has no functions`,
          mend: 'use Redis 7.0 or later, or Valkey',
        }
      : { about, level: 'ok', says: `version ${version} answers` },
    ...(isCluster
      ? ([
          { about, level: 'fault', says: 'it is a node of a cluster', mend: 'name a single server in `redis:`' },
        ] as const)
      : []),
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
