import { FAIR_START, type FairState, finishTag, keepUp, serve, startTag } from '../../src/model/fair-queue.js';
import { type Asked, type ShardStanding, ShardTurns } from '../../src/model/shard-turns.js';

/** A bucket that is ready from a step on, for good, with jobs of these costs in turn. */
export interface ReadyBucket {
  readonly shard: number;
  readonly weight: number;
  readonly costs: readonly number[];
  readonly from: number;
}

/** A process sends a fetch, Redis gets to the next one of its, or the process gets the answer to the oldest. */
export type Act = 'fetch' | 'serve' | 'answer';
const IDLE = { who: 0, what: 'serve', tookMs: 0 } as const;

export interface ShardWorkload {
  readonly shards: number;
  readonly buckets: readonly ReadyBucket[];
  readonly processes: number;
  /** Fetches that a process has under way at once. */
  readonly slots: number;
  /** Who does something next, and how long that takes, in ms: one for each step, over and over. */
  readonly chances: readonly { readonly who: number; readonly what: Act; readonly tookMs: number }[];
  readonly steps: number;
}

/** A shard as lua/dispatch.lua, settle.lua and turn.lua keep its books. */
class SimulatedShard {
  #fair: FairState = FAIR_START;
  readonly #tags = new Map<number, number>();
  readonly #finish = new Map<number, number>();
  #joined = false;

  ready(bucket: number): void {
    this.#tags.set(bucket, startTag(this.#fair, this.#finish.get(bucket) ?? 0));
  }

  turn(floor: number): ShardStanding {
    this.#keepUp(floor);
    return { virtualTime: this.#fair.virtualTime, head: this.#head()?.tag ?? null, waitMs: null };
  }

  dispatch(floor: number, costOf: (bucket: number) => { cost: number; weight: number }) {
    this.#keepUp(floor);
    const head = this.#head();
    if (head === undefined) return undefined;
    const { cost, weight } = costOf(head.bucket);
    const finish = finishTag(head.tag, cost, weight);
    this.#fair = serve(this.#fair, head.tag, finish);
    this.#finish.set(head.bucket, finish);
    this.#tags.set(head.bucket, startTag(this.#fair, finish));
    const standing: ShardStanding = { virtualTime: head.tag, head: this.#head()?.tag ?? null, waitMs: null };
    return { bucket: head.bucket, cost, standing };
  }

  #keepUp(floor: number): void {
    const head = this.#joined ? this.#head()?.tag : undefined;
    this.#fair = keepUp(this.#fair, floor, head);
    this.#joined = this.#tags.size > 0;
  }

  #head(): { bucket: number; tag: number } | undefined {
    let least: { bucket: number; tag: number } | undefined;
    for (const [bucket, tag] of this.#tags) if (least === undefined || tag < least.tag) least = { bucket, tag };
    return least && { ...least, tag: Math.max(least.tag, startTag(this.#fair, 0)) };
  }
}

interface Fetch {
  readonly asked: Asked;
  readonly floor: number;
  answer?: (now: number) => void;
}

/** Which bucket was served at each start, and its cost, as processes fetch from shards of which each knows only what it was told. */
export function simulateShards(
  workload: ShardWorkload,
): { readonly step: number; readonly bucket: number; readonly cost: number }[] {
  const shards = Array.from({ length: workload.shards }, () => new SimulatedShard());
  const processes = Array.from({ length: workload.processes }, () => ({
    turns: new ShardTurns(workload.shards),
    fetches: [] as Fetch[],
  }));
  const starts: { step: number; bucket: number; cost: number }[] = [];
  const served = workload.buckets.map(() => 0);
  let now = 0;
  for (let step = 0; step < workload.steps; step += 1) {
    for (const [index, { from, shard }] of workload.buckets.entries()) {
      if (from !== step) continue;
      shards[shard]?.ready(index);
      for (const { turns } of processes) turns.woken(shard);
    }
    const chance = workload.chances[step % workload.chances.length] ?? IDLE;
    now += chance.tookMs;
    const process = processes[chance.who % processes.length];
    if (process === undefined) continue;
    const { turns, fetches } = process;
    // What goes over one connection is done and answered in its order.
    const next = fetches.find(({ answer }) => answer === undefined);
    const [oldest] = fetches;
    if (chance.what === 'fetch' && fetches.length < workload.slots) {
      if (turns.needsLook(now)) look(turns);
      const shard = turns.next(now);
      if (shard !== undefined) fetches.push({ asked: turns.ask(shard), floor: turns.virtualTime });
    } else if (chance.what === 'answer' && oldest?.answer) {
      oldest.answer(now);
      fetches.shift();
    } else if (next) {
      next.answer = dispatch(next, turns, step);
    }
  }
  return starts;

  function look(turns: ShardTurns): void {
    const looked = turns.look();
    looked(
      shards.map((shard) => shard.turn(turns.virtualTime)),
      now,
    );
  }

  function dispatch({ asked, floor }: Fetch, turns: ShardTurns, step: number): (now: number) => void {
    const found = shards[asked.shard]?.dispatch(floor, (bucket) => {
      const { costs, weight } = workload.buckets[bucket] ?? { costs: [], weight: 1 };
      return { cost: costs[(served[bucket] ?? 0) % costs.length] ?? 1, weight };
    });
    if (!found) return (at) => turns.nothing(asked, null, at);
    served[found.bucket] = (served[found.bucket] ?? 0) + 1;
    starts.push({ step, bucket: found.bucket, cost: found.cost });
    return (at) => turns.served(asked, found.standing, at);
  }
}
