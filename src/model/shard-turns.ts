/** Where a shard stands in the order of its type. */
export interface ShardStanding {
  /** The start tag that was served last, or what virtual time was brought up to since. */
  readonly virtualTime: number;
  /** The first start tag that is ready; `null`: nothing is. */
  readonly head: number | null;
  /** Where nothing is ready: until something may be, in milliseconds; `null` until an event. */
  readonly waitMs: number | null;
}

interface Shard {
  /** As was last heard; `undefined` when something may be ready and nobody knows what. */
  head: number | null | undefined;
  /** While nothing is ready: when there may be something, by the caller's clock, in milliseconds. */
  until: number;
  /** When it was said that there is something; `Infinity` where nothing was. */
  dueAt: number;
  /** Fetches that are meant for it, from when it was chosen until it answered. */
  asked: number;
  /** By how much the head went on when a job was served, as was last seen. */
  step: number;
  /** Counts what was heard of the shard from elsewhere, so that an older answer does not cover it. */
  heard: number;
}

/** A dispatch that is under way. */
export interface Asked {
  readonly shard: number;
  readonly headBefore: number | null | undefined;
  readonly heard: number;
}

/** Heads are true for so long, in milliseconds: others are served too, and buckets come that go first. */
const FRESH_MS = 100;
/** However quiet it is, a shard is asked again after so long: a wake-up may get lost. */
const FALLBACK_MS = 5000;

/**
 * Which shard of a type is served next: the one whose first bucket has the least start tag, as if the buckets of all shards stood in
 * one queue (start-time fair queuing, see fair-queue.ts). All shards count virtual time by one scale. So a shard weighs what
 * its ready buckets weigh together, and nobody has to add that up.
 *
 * It knows what it was told, which others may have overtaken: each dispatch under way, of any process, may serve a shard that is
 * ahead by what others got there meanwhile. So for two buckets of different shards that stay ready, the costs served per weight
 * differ by at most `cᵢ/wᵢ + cⱼ/wⱼ`, as within one shard, and `c/w` of whoever has most once more for each dispatch that may be
 * under way at once.
 *
 * All instants are the caller's, in milliseconds.
 */
export class ShardTurns {
  readonly #shards: readonly Shard[];
  /** The greatest start tag that is known to have been served. */
  #virtualTime = 0;
  #lookedAt = -Infinity;

  constructor(count: number) {
    const unknown = { head: undefined, until: 0, dueAt: Infinity, asked: 0, step: 1, heard: 0 };
    this.#shards = Array.from({ length: count }, () => ({ ...unknown }));
  }

  /** Up to where virtual time has come in any shard. */
  get virtualTime(): number {
    return this.#virtualTime;
  }

  /** Whether there is a choice, and what is known of it is too old to choose by. */
  needsLook(now: number): boolean {
    if (now - this.#lookedAt < FRESH_MS) return false;
    return this.#shards.filter((shard) => mayStart(shard, now)).length > 1;
  }

  /** The shard whose turn it is; `undefined` while nothing may start anywhere. Of equal ones `own`, else whichever is asked least. */
  next(now: number, own?: number): number | undefined {
    let best: number | undefined;
    let least = Infinity;
    for (const [index, shard] of this.#shards.entries()) {
      if (!mayStart(shard, now)) continue;
      const tag = this.#tagOf(shard);
      if (tag > least || (tag === least && index !== own)) continue;
      best = index;
      least = tag;
    }
    return best;
  }

  /**
   * Whether it was heard that something may start there by now, and nothing since that puts it in doubt: what has only become due
   * another fetch may be about to take.
   */
  isReady(shard: number, now: number): boolean {
    const { head, dueAt, asked } = this.#shard(shard);
    return head === null ? dueAt <= now && asked === 0 : head !== undefined;
  }

  /** Whether something may start beside what fetches are under way for. */
  mayHaveMore(now: number): boolean {
    return this.#shards.some((shard) => typeof shard.head === 'number' || (mayStart(shard, now) && shard.asked === 0));
  }

  /** A fetch is meant for a shard that it does not ask yet. What is answered ends that. */
  choose(shard: number): () => void {
    const chosen = this.#shard(shard);
    chosen.asked += 1;
    return () => {
      chosen.asked -= 1;
    };
  }

  /** How long until something may start, in milliseconds. */
  waitMs(now: number): number {
    return Math.max(0, Math.min(...this.#shards.map(({ head, until }) => (head === null ? until : now))) - now);
  }

  /** A dispatch goes to a shard. What it came to is to be told to `served`, `nothing` or `failed`. */
  ask(shard: number): Asked {
    const asked = this.#shard(shard);
    asked.asked += 1;
    return { shard, headBefore: asked.head, heard: asked.heard };
  }

  /** It served a job. */
  served({ shard, headBefore, heard }: Asked, standing: ShardStanding, now: number): void {
    const served = this.#shard(shard);
    served.asked -= 1;
    this.#goOn(standing.virtualTime);
    if (typeof headBefore === 'number' && standing.head !== null) served.step = Math.max(0, standing.head - headBefore);
    if (served.heard === heard) stand(served, standing, now);
  }

  /** It found nothing that may start, for `waitMs` or until an event. */
  nothing({ shard, heard }: Asked, waitMs: number | null, now: number): void {
    const empty = this.#shard(shard);
    empty.asked -= 1;
    if (empty.heard === heard) stand(empty, { head: null, waitMs }, now);
  }

  /** It started nothing, though something is ready. */
  stands({ shard, heard }: Asked, standing: ShardStanding, now: number): void {
    const ready = this.#shard(shard);
    ready.asked -= 1;
    this.#goOn(standing.virtualTime);
    if (ready.heard === heard) stand(ready, standing, now);
  }

  /** Nobody knows what it came to. */
  failed({ shard }: Asked): void {
    const failed = this.#shard(shard);
    failed.asked -= 1;
    failed.head = undefined;
  }

  /** Something may be ready in a shard, or in all of them. */
  woken(shard?: number): void {
    for (const woken of shard === undefined ? this.#shards : [this.#shard(shard)]) {
      woken.heard += 1;
      woken.head = undefined;
    }
  }

  /** A look at every shard begins. What it finds, in their order, is to be told to the function that is answered. */
  look(): (standings: readonly ShardStanding[], now: number) => void {
    const heard = this.#shards.map((shard) => shard.heard);
    return (standings, now) => {
      this.#lookedAt = now;
      for (const [index, standing] of standings.entries()) {
        const shard = this.#shard(index);
        this.#goOn(standing.virtualTime);
        if (shard.heard === heard[index]) stand(shard, standing, now);
      }
    };
  }

  /** Nothing was ready and nothing ran anywhere: nobody is ahead or behind, so virtual time is the greatest finish tag. */
  idle(maxFinish: number): void {
    this.#goOn(maxFinish);
  }

  /** What is not known is taken for a bucket that has just become ready. */
  #tagOf({ head, asked, step }: Shard): number {
    return (head ?? this.#virtualTime) + asked * step;
  }

  #goOn(virtualTime: number): void {
    this.#virtualTime = Math.max(this.#virtualTime, virtualTime);
  }

  #shard(index: number): Shard {
    const shard = this.#shards[index];
    if (shard === undefined) throw new RangeError(`there is no shard ${index}`);
    return shard;
  }
}

function stand(shard: Shard, { head, waitMs }: Pick<ShardStanding, 'head' | 'waitMs'>, now: number): void {
  shard.head = head;
  shard.dueAt = now + (waitMs ?? Infinity);
  shard.until = Math.min(shard.dueAt, now + FALLBACK_MS);
}

function mayStart({ head, until }: Shard, now: number): boolean {
  return head !== null || until <= now;
}
