import type { ShardStanding } from '../model/shard-turns.js';
import type { Turn } from './scripts.js';

/** How a shard stands that is away: nothing of it may start until it is back. */
const AWAY: ShardStanding = { virtualTime: 0, head: null, waitMs: null };

/** Where a shard stands, as it says. */
export function standingOf(turn: Turn | undefined): ShardStanding {
  if (turn === undefined) return AWAY;
  const { virtualTime, head, waitUs } = turn;
  return { virtualTime, head, waitMs: inMs(waitUs) };
}

export function inMs(waitUs: number | null): number | null {
  return waitUs === null ? null : waitUs / 1000;
}
