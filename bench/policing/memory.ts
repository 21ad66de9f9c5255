import { Redis } from 'ioredis';
import { CONTENDERS } from './contenders.js';

export interface MemoryOptions {
  readonly contender: string;
  readonly keys: number;
  readonly callsPerKey: number;
  /** Calls under way at once; 1 for what has a connection for each. */
  readonly callers: number;
}

/** Bytes that a key takes in Redis. */
export interface Memory {
  /** What MEMORY USAGE says of one. */
  readonly usageBytes: number;
  /** By how much `used_memory` grew, over the number of keys: the table of keys and that of their ends are in it. */
  readonly grownBytes: number;
}

/** Nothing ends while it is weighed. */
const WINDOW_MS = 36_000_000;

/** Memory of so many keys, each after so many calls. */
export async function benchMemory(socketPath: string, options: MemoryOptions): Promise<Memory> {
  const { contender, keys, callsPerKey, callers } = options;
  const probe = new Redis(socketPath);
  await probe.flushall();
  const open = CONTENDERS[contender];
  if (open === undefined) throw new Error(`no contender ${contender}`);
  const { decide, close } = await open({
    socketPath,
    quota: { calls: Math.max(60, callsPerKey), windowMs: WINDOW_MS },
    callers,
  });
  // Scripts and connections are there before the first look.
  for (let i = 0; i < 100; i += 1) await decide('warm');
  await probe.flushall();
  const before = await usedMemory(probe);
  for (let call = 0; call < callsPerKey; call += 1) {
    for (let from = 0; from < keys; from += callers) {
      const count = Math.min(callers, keys - from);
      await Promise.all(Array.from({ length: count }, (_, i) => decide(`user-${String(from + i).padStart(7, '0')}`)));
    }
  }
  const grown = (await usedMemory(probe)) - before;
  const stored = await probe.dbsize();
  const key = await probe.randomkey();
  const usageBytes = key === null ? Number.NaN : Number(await probe.call('MEMORY', 'USAGE', key, 'SAMPLES', '0'));
  await close();
  probe.disconnect();
  if (stored !== keys) throw new Error(`${keys} keys were asked for, and ${stored} are there`);
  return { usageBytes, grownBytes: grown / keys };
}

async function usedMemory(redis: Redis): Promise<number> {
  return Number(/^used_memory:(\d+)/m.exec(await redis.info('memory'))?.[1] ?? Number.NaN);
}
