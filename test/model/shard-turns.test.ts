import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ShardTurns } from '../../src/model/shard-turns.js';
import { type Act, type ReadyBucket, type ShardWorkload, simulateShards } from './shard-simulation.js';

const RUNS = { seed: 8, numRuns: 400 };

/** By how much the cost per weight that two buckets got, over any time in which both were ready, differs more than it may. */
function excess({ buckets, processes, slots, ...rest }: ShardWorkload): number {
  const starts = simulateShards({ buckets, processes, slots, ...rest });
  const step = Math.max(...buckets.map(costliest));
  let most = -Infinity;
  for (const [one, first] of buckets.entries()) {
    for (const [other, second] of buckets.entries()) {
      if (other <= one) continue;
      const from = Math.max(first.from, second.from);
      let [ahead, low, high] = [0, 0, 0];
      for (const { step: at, bucket, cost } of starts) {
        if (at < from) continue;
        if (bucket === one) ahead += cost / first.weight;
        if (bucket === other) ahead -= cost / second.weight;
        low = Math.min(low, ahead);
        high = Math.max(high, ahead);
      }
      const isNear = first.shard === second.shard;
      const bound = costliest(first) + costliest(second) + (isNear ? 0 : processes * slots * step);
      most = Math.max(most, high - low - bound);
    }
  }
  return most;
}

function costliest({ costs, weight }: ReadyBucket): number {
  return Math.max(...costs) / weight;
}

const chance = (tookMs: fc.Arbitrary<number>) =>
  fc.record({ who: fc.nat(5), what: fc.constantFrom<Act>('fetch', 'serve', 'answer'), tookMs });
const SOON = fc.constantFrom(0, 0, 1, 7, 40, 200);

const workloads = (draw: { processes: number; from: readonly number[]; tookMs?: fc.Arbitrary<number> }) =>
  fc
    .record({
      shards: fc.integer({ min: 2, max: 5 }),
      processes: fc.integer({ min: 1, max: draw.processes }),
      slots: fc.integer({ min: 1, max: 4 }),
      steps: fc.integer({ min: 100, max: 1500 }),
      chances: fc.array(chance(draw.tookMs ?? SOON), { minLength: 5, maxLength: 60 }),
      buckets: fc.array(
        fc.record({
          shard: fc.nat(4),
          weight: fc.constantFrom(0.5, 1, 2, 4),
          costs: fc.array(fc.integer({ min: 1, max: 8 }), { minLength: 1, maxLength: 4 }),
          from: fc.constantFrom(...draw.from),
        }),
        { minLength: 2, maxLength: 9 },
      ),
    })
    .map(({ buckets, shards, ...rest }): ShardWorkload => {
      return { ...rest, shards, buckets: buckets.map((bucket) => ({ ...bucket, shard: bucket.shard % shards })) };
    });

const holds = (drawn: ReturnType<typeof workloads>) =>
  fc.assert(
    fc.property(drawn, (workload) => {
      expect(excess(workload)).toBeLessThanOrEqual(1e-9);
    }),
    RUNS,
  );

describe('what two ready buckets of any shards are served, over their weights, differs by no more than one job of each, and one of the costliest for each fetch that may be under way', () => {
  test('however many processes fetch, each knowing what it was told', () => {
    holds(workloads({ processes: 3, from: [0] }));
  });

  test('also of those that come later, to shards in which nothing was ready', () => {
    holds(workloads({ processes: 1, from: [0, 0, 50, 400] }));
  });

  test('and of those that come to shards of several processes that have looked lately', () => {
    holds(workloads({ processes: 3, from: [0, 0, 50, 400], tookMs: fc.integer({ min: 100, max: 300 }) }));
  });
});

describe('whose turn it is', () => {
  const standing = (head: number | null, waitMs: number | null = null) => ({ virtualTime: 0, head, waitMs });
  const looked = (...heads: (number | null)[]) => {
    const turns = new ShardTurns(heads.length);
    turns.look()(
      heads.map((head) => standing(head)),
      0,
    );
    return turns;
  };

  test('that of the shard with the least start tag', () => {
    expect(looked(3, 1, 2).next(0)).toBe(1);
  });

  test('of equal ones the own, so that a settle fetches as well', () => {
    expect(looked(1, 1, 1).next(0, 2)).toBe(2);
  });

  test('not the own while another is behind it', () => {
    expect(looked(1, 2).next(0, 1)).toBe(0);
  });

  test('nobody, where nothing is ready, until a wake-up or the time that was said', () => {
    const turns = looked(null, null);
    expect([turns.next(0), turns.waitMs(0)]).toEqual([undefined, 5000]);
    turns.woken(1);
    expect([turns.next(0), turns.waitMs(0)]).toEqual([1, 0]);
    turns.nothing(turns.ask(1), 30, 0);
    expect([turns.next(29), turns.waitMs(29), turns.next(30)]).toEqual([undefined, 1, 1]);
  });

  test('a wake-up that comes while nothing is found is not covered by that', () => {
    const turns = looked(null, null);
    turns.woken(1);
    const asked = turns.ask(1);
    turns.woken(1);
    turns.nothing(asked, null, 0);
    expect(turns.next(0)).toBe(1);
  });

  test('a fetch under way counts as if it were served already', () => {
    const turns = looked(1, 1.5);
    turns.ask(0);
    expect(turns.next(0)).toBe(1);
  });

  test('what a fetch came to that failed nobody knows: it is asked again', () => {
    const turns = looked(null, null);
    turns.woken(0);
    turns.failed(turns.ask(0));
    expect(turns.next(0)).toBe(0);
  });

  test('a look is needed only where there is a choice, and ten times a second at most', () => {
    const turns = looked(1, null);
    expect(turns.needsLook(1000)).toBe(false);
    turns.woken(1);
    expect([turns.needsLook(99), turns.needsLook(100)]).toEqual([false, true]);
  });
});

describe('something is known to be ready in a shard', () => {
  const shard = (head: number | null, waitMs: number | null) => {
    const turns = new ShardTurns(1);
    turns.look()([{ virtualTime: 0, head, waitMs }], 0);
    return turns;
  };

  test('that has said so', () => {
    expect(shard(1, null).isReady(0, 0)).toBe(true);
  });

  test('once the time has come that it said', () => {
    const turns = shard(null, 30);
    expect([turns.isReady(0, 29), turns.isReady(0, 30)]).toEqual([false, true]);
  });

  test('not where it is only asked again because a wake-up may be lost', () => {
    for (const waitMs of [null, 6000]) expect(shard(null, waitMs).isReady(0, 5000)).toBe(false);
  });

  test('not where it has only become due, and another fetch is meant for it', () => {
    const due = shard(null, 30);
    const leave = due.choose(0);
    expect(due.isReady(0, 30)).toBe(false);
    leave();
    expect(due.isReady(0, 30)).toBe(true);
  });

  test('not after a wake-up, which may be another’s', () => {
    const turns = shard(1, null);
    turns.woken(0);
    expect(turns.isReady(0, 0)).toBe(false);
  });
});

describe('there may be more than the fetches under way are for', () => {
  const shardsOf = (...heads: (number | null)[]) => {
    const turns = new ShardTurns(heads.length);
    turns.look()(
      heads.map((head) => ({ virtualTime: 0, head, waitMs: head === null ? 30 : null })),
      0,
    );
    return turns;
  };

  test('where a shard has said that something is ready, however many ask it', () => {
    const turns = shardsOf(1, null);
    turns.choose(0);
    turns.ask(0);
    expect(turns.mayHaveMore(0)).toBe(true);
  });

  test('where one has become due that nobody asks yet', () => {
    const turns = shardsOf(null, null);
    turns.choose(0);
    expect([turns.mayHaveMore(29), turns.mayHaveMore(30)]).toEqual([false, true]);
    turns.choose(1);
    expect(turns.mayHaveMore(30)).toBe(false);
  });
});
