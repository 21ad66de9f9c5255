import { expect, test } from 'vitest';
import type { RateLimit } from '../../src/model/limit.js';
import { RedisPolicer } from '../../src/policing/redis-policer.js';
import { subjectOf } from '../../src/policing/subject.js';
import { redisForTests } from '../lua/redis-for-tests.js';
import { seeded } from './fleet.js';

const server = redisForTests();

const MINUTE_MS = 60_000;
/** Instants of the trace are multiples of this. */
const TICK_MS = 50;
/** Of the abuser: 18,000 calls a minute, for two minutes. */
const ABUSE = { perTick: (18_000 * TICK_MS) / MINUTE_MS, ms: 2 * MINUTE_MS };
const ABUSER = 'abuser';

interface Call {
  readonly user: string;
  readonly address: string;
}

/** Calls by the tick in which they come. */
type Trace = ReadonlyMap<number, readonly Call[]>;

/**
 * 60 addresses with one to six users behind each. Every user has a phone and a browser there, and each of the two opens a
 * page, which is 12 calls within a second, and then three more, 10 to 25 s apart. The abuser has an address of its own.
 */
function seededTrace(seed: number): Trace {
  const random = seeded(seed);
  const between = (least: number, most: number) => least + random() * (most - least);
  const trace = new Map<number, Call[]>();
  const add = (atMs: number, call: Call) => {
    const tick = Math.floor(atMs / TICK_MS);
    trace.set(tick, [...(trace.get(tick) ?? []), call]);
  };
  const page = (atMs: number, call: Call) => {
    for (let i = 0; i < 12; i += 1) add(atMs + between(0, 1000), call);
  };
  for (let home = 0; home < 60; home += 1) {
    const users = Math.floor(between(1, 7));
    for (let user = 0; user < users; user += 1) {
      const call = { user: `user-${home}-${user}`, address: `198.51.100.${home}` };
      for (const _device of ['phone', 'browser']) {
        let atMs = between(0, MINUTE_MS);
        for (let pages = 0; pages < 4; pages += 1) {
          page(atMs, call);
          atMs += between(10_000, 25_000);
        }
      }
    }
  }
  for (let atMs = 0; atMs < ABUSE.ms; atMs += TICK_MS) {
    for (let i = 0; i < ABUSE.perTick; i += 1) add(atMs, { user: ABUSER, address: '203.0.113.9' });
  }
  return new Map([...trace].sort(([a], [b]) => a - b));
}

/** Decides the calls of one instant. */
type Gate = (calls: readonly Call[], atMs: number) => Promise<readonly boolean[]>;

interface Account {
  legitimate: number;
  legitimateRefused: number;
  abuse: number;
  abuseRefused: number;
}

async function account(trace: Trace, gate: Gate): Promise<Account> {
  const counts: Account = { legitimate: 0, legitimateRefused: 0, abuse: 0, abuseRefused: 0 };
  for (const [tick, calls] of trace) {
    const passed = await gate(calls, tick * TICK_MS);
    calls.forEach(({ user }, i) => {
      const kind = user === ABUSER ? 'abuse' : 'legitimate';
      counts[kind] += 1;
      if (!passed[i]) counts[`${kind}Refused`] += 1;
    });
  }
  return counts;
}

/** A counter for each key in a process, which starts over a minute after the first call that it counts. */
function fixedWindow(limit: number): (key: string, atMs: number) => boolean {
  const windows = new Map<string, { readonly sinceMs: number; count: number }>();
  return (key, atMs) => {
    let window = windows.get(key);
    if (window === undefined || atMs >= window.sinceMs + MINUTE_MS) {
      window = { sinceMs: atMs, count: 0 };
      windows.set(key, window);
    }
    window.count += 1;
    return window.count <= limit;
  };
}

/** Four processes with windows of 100 a minute by address; the balancer picks one for each call. */
function fourProcesses(pick: (call: Call, nth: number) => number): Gate {
  const processes = Array.from({ length: 4 }, () => fixedWindow(100));
  let nth = 0;
  return async (calls, atMs) =>
    calls.map((call) => {
      nth += 1;
      return processes[pick(call, nth) % 4]?.(call.address, atMs) ?? false;
    });
}

function lastNumber(address: string): number {
  return Number(address.split('.').at(-1));
}

/** A bucket of 100 that refills in a minute, for each user, in a Redis that all processes share. */
function headgate(): Gate {
  const limit: RateLimit = { algorithm: 'token-bucket', name: 'a', per: 'key', burst: 100, ratePerSecond: 100 / 60 };
  let nowUs = 59_000_000_000_000;
  const beginUs = nowUs;
  const policer = new RedisPolicer(server.redis, { now: () => nowUs });
  return async (calls, atMs) => {
    nowUs = beginUs + atMs * 1000;
    const verdicts = calls.map(({ user }) => {
      const subject = subjectOf('false-refusals', 0, limit, { key: user });
      return policer.check({ limits: [{ limit, subject }], cost: 1, peek: false });
    });
    return (await Promise.all(verdicts)).map(({ verdict }) => verdict === 'conforming');
  };
}

test('a limit by user in one place refuses nobody who behaves; windows by address in four processes refuse many', async () => {
  const trace = seededTrace(7);
  const [roundRobin, byAddress, ours] = [
    await account(
      trace,
      fourProcesses((_call, nth) => nth),
    ),
    await account(
      trace,
      fourProcesses(({ address }) => lastNumber(address)),
    ),
    await account(trace, headgate()),
  ];
  const calls = { legitimate: 22_176, abuse: 36_000 };
  // docs/policing.md has these numbers.
  expect({ roundRobin, byAddress, ours }).toEqual({
    roundRobin: { ...calls, legitimateRefused: 106, abuseRefused: 35_200 },
    // Two windows of 100, where a bucket has its 100 and what leaks in two minutes.
    byAddress: { ...calls, legitimateRefused: 11_582, abuseRefused: 35_800 },
    ours: { ...calls, legitimateRefused: 0, abuseRefused: 35_701 },
  });
});
