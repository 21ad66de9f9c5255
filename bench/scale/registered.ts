import { DEFAULT_PROFILE } from '../../dist/src/model/profile.js';
import { RedisTenantKeys } from '../../dist/src/shaping/tenant-keys.js';
import { type Cost, measure } from '../core/probe.js';
import { startOwnPool } from '../own-pool.js';
import { inParallel } from './in-parallel.js';
import { untilCompleted } from './until-completed.js';
import { usedMemory } from './used-memory.js';

export interface RegisteredOptions {
  /** Tenants with an API key that was made at run time. */
  readonly registered: number;
  /** Those of them that have jobs. */
  readonly active: number;
  readonly jobs: number;
}

/** What jobs cost beside so many tenants who are known and have none. */
export interface Registered {
  readonly admission: Cost;
  readonly dispatch: Cost;
  /** What a tenant's key takes in Redis. */
  readonly bytesPerTenant: number;
}

/** No-op jobs of `active` tenants, one admitted a call and 100 calls at a time, then 100 at once through the pool. */
export async function benchRegistered(
  socketPath: string,
  { registered, active, jobs }: RegisteredOptions,
): Promise<Registered> {
  const profile = { ...DEFAULT_PROFILE, ratePerSecond: Number.POSITIVE_INFINITY, depth: 1_000_000 };
  const bench = await startOwnPool(socketPath, { profile, slots: 100, keepResults: { ageMs: 3_600_000, count: 1000 } });
  const keys = new RedisTenantKeys(bench.redis);
  const before = await usedMemory(bench.redis);
  await inParallel(200, registered, (i) => keys.create(nameOf(i)));
  const bytesPerTenant = ((await usedMemory(bench.redis)) - before) / registered;
  const stride = registered / active;
  const admission = await measure(bench.redis, () =>
    inParallel(100, jobs, (i) => bench.admit(nameOf(Math.floor((i % active) * stride)))),
  );
  const dispatch = await measure(bench.redis, () => untilCompleted(bench, jobs));
  await bench.stop();
  return { admission, dispatch, bytesPerTenant };
}

const nameOf = (i: number): string => `tenant-${String(i).padStart(7, '0')}`;
