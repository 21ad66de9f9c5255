import { setImmediate as turn } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { measure } from '../core/probe.js';
import { quantile } from '../statistics.js';
import { CONTENDERS, type Contender } from './contenders.js';
import { QUOTAS } from './terms.js';

export interface DecisionsOptions {
  readonly contender: string;
  readonly quota: keyof typeof QUOTAS;
  /** Keys that calls come from, in turn. */
  readonly keys: number;
  /** Calls under way at once. */
  readonly callers: number;
  /** The same while every call is timed; 1 where nothing has to be waited for, or they would wait for each other. */
  readonly timedCallers: number;
  readonly decisions: number;
  /** Whether every phase has keys of its own, so that what is measured begins with nothing known of them. */
  readonly cold?: boolean;
}

/** What decisions cost in one process. */
export interface Decisions {
  readonly perSecond: number;
  readonly p50Us: number;
  readonly p99Us: number;
  readonly redisUs: number;
  readonly nodeUs: number;
  readonly passed: number;
}

/** Decisions of one contender in this process: throughput first, then, with a clock at every call, how long each takes. */
export async function benchDecisions(socketPath: string, options: DecisionsOptions): Promise<Decisions> {
  const { keys, callers, timedCallers, decisions, cold = false } = options;
  const probe = new Redis(socketPath);
  await probe.flushall();
  const contender = await opened(socketPath, options);
  const namesIn = (phase: number): string[] => {
    const first = cold ? phase * keys : 0;
    return Array.from({ length: keys }, (_, i) => `user-${String(first + i).padStart(7, '0')}`);
  };
  await untimed(contender, namesIn(0), callers, Math.ceil(decisions / 5));
  let passed = 0;
  const cost = await measure(probe, async () => {
    passed = await untimed(contender, namesIn(1), callers, decisions);
  });
  const times = await timed(contender, namesIn(2), timedCallers, Math.ceil(decisions / 4));
  await contender.close();
  probe.disconnect();
  return {
    perSecond: decisions / cost.wallS,
    p50Us: quantile(times, 0.5),
    p99Us: quantile(times, 0.99),
    redisUs: (cost.redisCpuS * 1e6) / decisions,
    nodeUs: (cost.nodeCpuS * 1e6) / decisions,
    passed,
  };
}

function opened(socketPath: string, { contender, quota, callers }: DecisionsOptions): Promise<Contender> {
  const open = CONTENDERS[contender];
  if (open === undefined) throw new Error(`no contender ${contender}`);
  return open({ socketPath, quota: QUOTAS[quota], callers });
}

/** As in every program, the event loop gets its turn: a caller lets it after so many decisions. */
const DECISIONS_PER_TURN = 100;

/** Decides so many calls, and tells how many passed. Only what is a promise is waited for. */
async function untimed(contender: Contender, names: readonly string[], callers: number, n: number): Promise<number> {
  let next = 0;
  let passed = 0;
  const caller = async (): Promise<void> => {
    while (next < n) {
      const answer = contender.decide(names[next % names.length] ?? '');
      next += 1;
      if (next % DECISIONS_PER_TURN === 0) await turn();
      if (answer instanceof Promise ? await answer : answer) passed += 1;
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
  return passed;
}

/** Microseconds of each of so many calls. */
async function timed(contender: Contender, names: readonly string[], callers: number, n: number): Promise<number[]> {
  const times: number[] = [];
  let next = 0;
  const caller = async (): Promise<void> => {
    while (next < n) {
      const name = names[next % names.length] ?? '';
      next += 1;
      if (next % DECISIONS_PER_TURN === 0) await turn();
      const askedAt = performance.now();
      const answer = contender.decide(name);
      if (answer instanceof Promise) await answer;
      times.push((performance.now() - askedAt) * 1000);
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
  return times;
}
