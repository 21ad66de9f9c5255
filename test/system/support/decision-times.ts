import type { Redis } from 'ioredis';

/** When decisions were taken so far, by the clock of Redis, in seconds. */
export interface DecisionTimes {
  readonly all: readonly number[];
  stop(): void;
}

/**
 * Listens to every call of a function of Redis with MONITOR, which stamps each with the server's own time, in
 * microseconds: the clock by which the limits are counted, whoever asks and whenever the answer is read. Nobody else may
 * use this Redis when it begins.
 */
export async function decisionTimes(redis: Redis): Promise<DecisionTimes> {
  // Nothing may be under way meanwhile: the client takes what it hears too early for answers to itself.
  await redis.ping();
  const monitor = await redis.monitor();
  const times: number[] = [];
  monitor.on('monitor', (time: string, [command = '']: string[], source: string) => {
    if (command.toLowerCase() === 'fcall' && source !== 'lua') times.push(Number(time));
  });
  return { all: times, stop: () => monitor.disconnect() };
}
