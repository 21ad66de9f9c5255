import { setTimeout as delay } from 'node:timers/promises';
import { LeasedPolicer } from '../../dist/src/policing/leased-policer.js';
import { closeConnection, openConnection, untilReady } from '../../dist/src/redis/connection.js';

export interface LeaseMemberOptions {
  readonly ratePerSecond: number;
  readonly burst: number;
  readonly leaseMs: number;
  readonly offeredPerSecond: number;
  readonly seconds: number;
  /** Milliseconds of the Unix epoch, at which all begin. */
  readonly startAt: number;
}

/** What one of the processes that share a limit was asked for, and when it let calls pass. */
export interface LeaseMember {
  readonly offered: number;
  /** Milliseconds since the beginning. */
  readonly passedAtMs: readonly number[];
}

const TURN_MS = 5;

/** Offers an even stream of calls of one key to this process' leased policer. */
export async function benchLeaseMember(socketPath: string, options: LeaseMemberOptions): Promise<LeaseMember> {
  const { ratePerSecond, burst, leaseMs, offeredPerSecond, seconds, startAt } = options;
  const redis = openConnection({ socketPath }, { name: 'bench', deadlineMs: 5000 });
  await untilReady(redis);
  const policer = new LeasedPolicer(redis, { leaseMs });
  const limit = { algorithm: 'token-bucket', name: 'a', per: 'policy', ratePerSecond, burst } as const;
  const check = { limits: [{ limit, subject: 'shared' }], cost: 1, peek: false };

  const sinceStartMs = (): number => performance.timeOrigin + performance.now() - startAt;
  const passedAtMs: number[] = [];
  const underWay: Promise<void>[] = [];
  const call = async (): Promise<void> => {
    if ((await policer.check(check)).verdict === 'conforming') passedAtMs.push(sinceStartMs());
  };
  let offered = 0;
  await delay(Math.max(0, -sinceStartMs()));
  for (let at = sinceStartMs(); at < seconds * 1000; at = sinceStartMs()) {
    for (const due = Math.floor((at / 1000) * offeredPerSecond); offered < due; offered += 1) underWay.push(call());
    await delay(TURN_MS);
  }
  await Promise.all(underWay);
  await policer.close();
  closeConnection(redis);
  return { offered, passedAtMs };
}
