import { Redis } from 'ioredis';
import { CONTENDERS } from './contenders.js';

export interface MemoryOptions {
  readonly contender: string;
  readonly keys: number;
  readonly callsPerKey: number;
}

/** Bytes that a key takes in Redis. */
export interface Memory {
  /** What MEMORY USAGE says of one. */
  readonly usageBytes: number;
  /** By how much `used_memory` grew, over the number of keys: the table of keys and that of their ends are in it. */
  readonly grownBytes: number;
}

const PIPED = 100;
const WINDOW_MS = 600_000;

/** Memory of so many keys, each after so many calls. */
export async function benchMemory(
  socketPath: string,
  { contender, keys, callsPerKey }: MemoryOptions,
): Promise<Memory> {
  const probe = new Redis(socketPath);
  await probe.flushall();
  const open = CONTENDERS[contender];
  if (open === undefined) throw new Error(`no contender ${contender}`);
  const { decide, close } = await open({
    socketPath,
    quota: { calls: Math.max(60, callsPerKey), windowMs: WINDOW_MS },
    callers: PIPED,
  });
  // Scripts and connections are there before the first look.
  for (let i = 0; i < PIPED; i += 1) await decide('warm');
  await probe.flushall();
  const before = await usedMemory(probe);
  for (let call = 0; call < callsPerKey; call += 1) {
    for (let from = 0; from < keys; from += PIPED) {
      const count = Math.min(PIPED, keys - from);
      await Promise.all(Array.from({ length: count }, (_, i) => decide(`user-${String(from + i).padStart(7, '0')}`)));
    }
  }
  const grown = (await usedMemory(probe)) - before;
  const stored = await probe.dbsize();
  const [key] = await probe.keys('*000123*').then((found) => (found.length > 0 ? found : probe.randomkey().then(one)));
  const usageBytes = key === undefined ? 0 : Number(await probe.call('MEMORY', 'USAGE', key, 'SAMPLES', '0'));
  await close();
  probe.disconnect();
  if (stored !== keys) throw new Error(`${keys} keys were asked for, and ${stored} are there`);
  return { usageBytes, grownBytes: grown / keys };
}

const one = (key: string | null): string[] => (key === null ? [] : [key]);

async function usedMemory(redis: Redis): Promise<number> {
  return Number(/^used_memory:(\d+)/m.exec(await redis.info('memory'))?.[1] ?? Number.NaN);
}
