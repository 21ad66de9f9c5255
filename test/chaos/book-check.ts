import type { RedisLink } from '../../src/redis/connection.js';
import { encodeTenant, queuePrefix, scheduleKeys } from '../../src/redis/keys.js';
import { ONE_SHARD } from '../../src/redis/shards.js';
import type { Accepted } from './ledger.js';
import { CAPS, SHAPED, SLACK_MS, TENANTS, TERMS } from './terms.js';

/** What Redis holds at the end, against the ledger. */
export interface BookCheck {
  /** Accepted, and in no list of ended jobs. */
  readonly lost: readonly Accepted[];
  /** In both lists of ended jobs, or twice in one. */
  readonly twoEnds: readonly string[];
  /** What Redis counts as running, anywhere, and where. */
  readonly running: readonly string[];
  readonly waiting: readonly string[];
  /** The first window of starts, by the clock of Redis, that held more than a bucket's rate allows; of each bucket. */
  readonly envelope: readonly string[];
}

/** How fast jobs of a bucket may start. */
export interface Pace {
  readonly ratePerSecond: number;
  readonly burst: number;
  readonly slackMs: number;
}

/** Which buckets there are, and the type whose buckets all start by one pace. */
export interface BooksOf {
  readonly types: readonly string[];
  readonly tenants: readonly string[];
  readonly paced: { readonly type: string; readonly pace: Pace };
}

const CHAOS_PACE: Pace = { ...TERMS, slackMs: SLACK_MS };
const OF_CHAOS: BooksOf = { types: Object.keys(CAPS), tenants: TENANTS, paced: { type: SHAPED, pace: CHAOS_PACE } };

/** Reads the lists themselves, beside everything that Headgate says of them. */
export async function checkBooks(
  redis: RedisLink,
  accepted: ReadonlyMap<string, Accepted>,
  shards = ONE_SHARD,
  { types, tenants, paced }: BooksOf = OF_CHAOS,
): Promise<BookCheck> {
  const ends = new Map<string, number>();
  const envelope: string[] = [];
  const running: string[] = [];
  const waiting: string[] = [];
  for (const type of types) {
    for (const tenant of tenants) {
      const queue = `${queuePrefix(shards.tagOf(type, tenant))}:${encodeTenant(tenant)}`;
      const ids = [
        ...(await redis.zrange(`${queue}:completed`, 0, -1)),
        ...(await redis.zrange(`${queue}:failed`, 0, -1)),
      ];
      for (const id of ids) ends.set(id, (ends.get(id) ?? 0) + 1);
      running.push(...(await redis.lrange(`${queue}:active`, 0, -1)));
      for (const list of ['prioritized', 'delayed']) waiting.push(...(await redis.zrange(`${queue}:${list}`, 0, -1)));
      if (type === paced.type) {
        const starts = await Promise.all(
          ids.map(async (id) => Number(await redis.hget(`${queue}:${id}`, 'processedOn'))),
        );
        const tooMuch = firstBreach(
          starts.filter((at) => at > 0),
          paced.pace,
        );
        if (tooMuch !== undefined) envelope.push(`${type}/${tenant}: ${tooMuch}`);
      }
    }
    for (const tag of shards.tags(type)) {
      running.push(...(await redis.hkeys(scheduleKeys(tag).running)));
      const state = await redis.hgetBuffer(`${tag}:type`, 's');
      // lua/lib/type.lua: the fourth of its doubles is what the type counts as running.
      const counted = state?.readDoubleLE(24) ?? 0;
      if (counted !== 0) running.push(`${counted} by the count of ${tag}`);
    }
  }
  return {
    lost: [...accepted.values()].filter(({ id }) => !ends.has(id)),
    twoEnds: [...ends].flatMap(([id, count]) => (count > 1 ? [id] : [])),
    running,
    waiting,
    envelope,
  };
}

/** Starts in milliseconds by one clock; a job's last one alone is known, so a breach is certain. Every job costs 1. */
export function firstBreach(
  startsMs: readonly number[],
  { ratePerSecond, burst, slackMs }: Pace = CHAOS_PACE,
): string | undefined {
  const starts = startsMs.toSorted((a, b) => a - b);
  for (const [from, first] of starts.entries()) {
    for (let to = from + 1; to < starts.length; to += 1) {
      // Instants are whole milliseconds.
      const windowMs = (starts[to] ?? 0) - first + 1;
      const allowed = burst + (ratePerSecond * (windowMs + slackMs)) / 1000;
      if (to - from + 1 > allowed)
        return `${to - from + 1} starts within ${windowMs} ms, where ${allowed.toFixed(2)} may`;
    }
  }
  return undefined;
}
