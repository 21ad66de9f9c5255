import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { emissionUs } from '../../src/model/profile.js';
import { type Fault, making } from '../lua/making.js';
import { excessOverEnvelope } from '../model/judges/envelope.js';
import { termsOf } from '../model/terms-of.js';
import { startRedis, type TestRedis } from '../support/redis-server.js';
import { CapacityTrial, COSTS, type Happening, SECOND, type TrialOptions } from './capacity-trial.js';
import { ClockedRedis, type Conditions, type Mishap, ShardClocks } from './clocked-redis.js';

const SHARDS = 3;
const BEGIN_US = 60_000_000_000_000;
const HOUR_US = 3600 * SECOND;
/** One by which each is found soon. */
const SEED_OF_FAULTS = 5;
/** Until when a permit may be used after it was paid for. */
const VALID_US = 250_000;
const SLACK_US = 25_000;

let server: TestRedis;
beforeAll(async () => {
  server = await startRedis();
});
afterAll(() => server.stop());

interface Lived {
  readonly overSlots: number;
  readonly overRate: number;
  /** How long all of it took, µs. */
  readonly tookUs: number;
  readonly started: number;
}

/** One trial on a server whose scripts may have a fault. */
async function live(
  options: TrialOptions & { readonly workUs: number },
  happenings: readonly Happening[],
  { conditions, fault = [] }: { readonly conditions: Conditions; readonly fault?: Fault },
): Promise<Lived> {
  const clocks = new ShardClocks(BEGIN_US, [0, HOUR_US, -HOUR_US]);
  const faulty = making(fault);
  const concerns = (text: string) => fault.some(([from]) => text.includes(from));
  const redis = new ClockedRedis({ path: server.socketPath }, clocks, (text) =>
    concerns(text) ? faulty('library', text) : text,
  );
  // What a process measures for itself goes by the same clock.
  const localTime = vi.spyOn(performance, 'now').mockImplementation(() => clocks.nowUs / 1000);
  try {
    await redis.function('FLUSH');
    await redis.flushall();
    const trial = new CapacityTrial(redis, clocks, options.workUs, { slackUs: SLACK_US, ...options });
    redis.conditions = conditions;
    const tookUs = await trial.live(happenings);
    const { ratePerSecond = Infinity, burst = 1 } = options.capacity;
    const pace = { emissionUs: emissionUs(ratePerSecond), jobEmissionUs: 0, burst, slackUs: SLACK_US + VALID_US };
    const terms = { ...termsOf({}), pace };
    const startsInOrder = trial.starts.toSorted((one, other) => one.atUs - other.atUs);
    return {
      overSlots: trial.overSlots,
      overRate: excessOverEnvelope(startsInOrder, [{ fromUs: 0, terms }]),
      tookUs,
      started: trial.starts.length,
    };
  } finally {
    localTime.mockRestore();
    redis.disconnect();
  }
}

/** Calls go one after the other here, so what one takes all others wait for. */
const latency = fc.infiniteStream(fc.integer({ min: 50, max: 2000 }));
const calm = fc
  .infiniteStream(fc.integer({ min: 20, max: 400 }))
  .map((stream): Conditions => ({ latencyUs: valuesOf(stream), mishap: () => 'none' }));
const MISHAPS: readonly Mishap[] = ['reply lost', 'never came', 'comes late'];
const rough = fc.tuple(latency, fc.infiniteStream(fc.nat(99))).map(
  ([stream, chances]): Conditions => ({
    latencyUs: valuesOf(stream),
    mishap: mapped(valuesOf(chances), (chance) => MISHAPS[chance] ?? 'none'),
  }),
);

function valuesOf(stream: Iterator<number>): () => number {
  return () => Number(stream.next().value);
}

function mapped<From, To>(next: () => From, to: (from: From) => To): () => To {
  return () => to(next());
}

const within = (most: number) => fc.integer({ min: 0, max: most * SECOND });
const capacity = fc.oneof(
  fc.record({ concurrency: fc.integer({ min: 1, max: 5 }) }),
  fc.record({ ratePerSecond: fc.constantFrom(5, 20, 40), burst: fc.constantFrom(1, 4) }),
  fc.record({ ratePerSecond: fc.constantFrom(5, 20, 40), concurrency: fc.integer({ min: 1, max: 5 }) }),
);
const come = fc.record({
  atUs: within(4),
  what: fc.constant('come' as const),
  shard: fc.nat(SHARDS - 1),
  jobs: fc.integer({ min: 1, max: 15 }),
  cost: fc.constantFrom(...COSTS),
});
const trouble: fc.Arbitrary<Happening> = fc.oneof(
  fc.record({ atUs: within(6), what: fc.constant('kill' as const), process: fc.nat(2) }),
  fc.record({ atUs: within(6), what: fc.constant('late calls come' as const) }),
  fc.record({ atUs: within(6), what: fc.constant('late calls come' as const) }),
);
const change: fc.Arbitrary<Happening> = fc.record({
  atUs: within(6),
  what: fc.constant('change' as const),
  capacity: fc.oneof(fc.constant({}), fc.record({ concurrency: fc.integer({ min: 1, max: 5 }) })),
});

/** Anything at all, on one capacity, or on one whose slots change. */
const anything = fc.record({
  capacity,
  processes: fc.integer({ min: 1, max: 3 }),
  slots: fc.integer({ min: 1, max: 5 }),
  workUs: fc.constantFrom(1000, 40_000, 300_000),
  happenings: fc
    .tuple(
      fc.array(come, { minLength: 2, maxLength: 8 }),
      fc.array(trouble, { maxLength: 4 }),
      fc.oneof(fc.constant([]), fc.array(change, { maxLength: 3 })),
    )
    .map((all) => all.flat()),
  conditions: rough,
});

type Anything = typeof anything extends fc.Arbitrary<infer Value> ? Value : never;

function exceeded({ capacity: limits, happenings }: Anything, { overSlots, overRate }: Lived): string | undefined {
  if (overSlots > 0) return `${overSlots} slots too many`;
  const isChanged = happenings.some(({ what }) => what === 'change');
  if (!isChanged && 'ratePerSecond' in limits && overRate > 0) return `${overRate} units too many`;
  return undefined;
}

/** What was exceeded in one of so many trials, if anything, and how many jobs started. */
async function exceeds(options: { seed: number; trials: number; fault?: Fault }) {
  let [started, unfinished] = [0, 0];
  let excess: string | undefined;
  const property = fc.asyncProperty(anything, async (drawn) => {
    const { fault = [] } = options;
    const lived = await live({ shards: SHARDS, ...drawn }, drawn.happenings, { conditions: drawn.conditions, fault });
    started += lived.started;
    if (lived.tookUs === Infinity) unfinished += 1;
    excess = exceeded(drawn, lived);
    return excess === undefined;
  });
  const { failed, errorInstance, seed } = await fc.check(property, {
    seed: options.seed,
    numRuns: options.trials,
    endOnFailure: true,
  });
  if (failed && excess === undefined) throw errorInstance;
  return { excess, started, unfinished, seed };
}

describe('the capacity of a type over its shards is never exceeded', () => {
  test.each([1, 2])('whatever comes, is killed, lost or late (seed %i)', async (seed) => {
    const { excess, started, unfinished } = await exceeds({ seed, trials: 15 });
    expect(excess).toBeUndefined();
    // And all of it comes to its end: no slot leaks.
    expect(unfinished).toBe(0);
    expect(started).toBeGreaterThan(300);
  });

  test.each<[title: string, fault: Fault]>([
    ['slots that nobody counts', [['key_permits) < total.conc', 'key_permits) < 1e15']]],
    ['a rate that nobody pays', [['+ cost * total.T', '']]],
    ['permits that are given up while their jobs run', [['if not held[ARGV[i]] then', 'if true then']]],
    ['permits that are good for ever', [['id and now <= tonumber(valid_until)', 'id']]],
    ['starts without a permit', [["call('HEXISTS', key_type, 'permits') == 1", 'false']]],
  ])('which is noticed of %s', async (_, fault) => {
    // How calls of several processes meet is Redis' affair, so a fault may take many trials; the first that shows it is the last.
    expect((await exceeds({ seed: SEED_OF_FAULTS, trials: 600, fault })).excess).toBeDefined();
  });

  test('nor is one that comes while jobs run, which is noticed where these are not counted', async () => {
    const capacity = { concurrency: 3 };
    const happenings: Happening[] = [
      { atUs: 0, what: 'change', capacity: {} },
      ...[0, 1, 2].map((shard): Happening => ({ atUs: 1000, what: 'come', shard, jobs: 10, cost: 1 })),
      { atUs: SECOND, what: 'change', capacity },
    ];
    const options = { capacity, shards: SHARDS, processes: 2, slots: 5, workUs: 2.2 * SECOND };
    const conditions: Conditions = { latencyUs: () => 300, mishap: () => 'none' };
    const { overSlots, started } = await live(options, happenings, { conditions });
    expect([overSlots, started]).toEqual([0, 30]);
    const fault: Fault = [['for i = 3, #ARGV, 2 do keep_permit', 'for i = 3, 0, 2 do keep_permit']];
    expect((await live(options, happenings, { conditions, fault })).overSlots).toBeGreaterThan(0);
  });
});

/** How uneven load may be: what comes at once, by shard, and what comes later in another one. */
const uneven = fc.record({
  shares: fc.tuple(fc.integer({ min: 0, max: 10 }), fc.integer({ min: 0, max: 3 }), fc.integer({ min: 0, max: 1 })),
  turns: fc.array(fc.nat(SHARDS - 1), { minLength: 2, maxLength: 4 }),
  processes: fc.integer({ min: 1, max: 3 }),
  conditions: calm,
});

const RATE = 20;
const SLOTS = 4;
const WORK_US = 400_000;
/** What fills the capacity for so long comes at a time. */
const TURN_US = 3 * SECOND;

/** The load moves from shard to shard: as much comes in each turn as the capacity lets start in it. */
function loadOf(jobsPerTurn: number, { shares, turns }: { shares: readonly number[]; turns: readonly number[] }) {
  const whole = Math.max(
    1,
    shares.reduce((sum, share) => sum + share, 0),
  );
  const first = shares.map((share, shard) => ({ shard, jobs: Math.floor((share * jobsPerTurn) / whole), atUs: 0 }));
  const left = jobsPerTurn - first.reduce((sum, { jobs }) => sum + jobs, 0);
  const later = turns.map((shard, i) => ({ shard, jobs: jobsPerTurn, atUs: (i + 1) * TURN_US }));
  const all = [...first, { shard: 0, jobs: left, atUs: 0 }, ...later].filter(({ jobs }) => jobs > 0);
  const happenings = all.map((part): Happening => ({ what: 'come', cost: 1, ...part }));
  return { happenings, jobs: jobsPerTurn * (1 + turns.length) };
}

/** The least part of the capacity that was used in any of so many trials. */
async function leastUsed(kind: 'rate' | 'slots', options: { seed: number; trials: number; fault?: Fault }) {
  let least = Infinity;
  const property = fc.asyncProperty(uneven, async (drawn) => {
    const { conditions, processes } = drawn;
    const { fault = [] } = options;
    const own = { shards: SHARDS, processes, slots: SLOTS };
    if (kind === 'rate') {
      const { happenings, jobs } = loadOf((RATE * TURN_US) / SECOND, drawn);
      const limits = { ...own, capacity: { ratePerSecond: RATE, burst: 1 }, workUs: 1000 };
      const { tookUs } = await live(limits, happenings, { conditions, fault });
      least = Math.min(least, ((jobs - 1) * SECOND) / RATE / tookUs);
    } else {
      const { happenings, jobs } = loadOf((SLOTS * TURN_US) / WORK_US, drawn);
      const limits = { ...own, capacity: { concurrency: SLOTS }, workUs: WORK_US };
      const { tookUs } = await live(limits, happenings, { conditions, fault });
      least = Math.min(least, (jobs * WORK_US) / SLOTS / tookUs);
    }
    return least >= 0.95;
  });
  const { failed, errorInstance } = await fc.check(property, {
    seed: options.seed,
    numRuns: options.trials,
    endOnFailure: true,
  });
  if (failed && least >= 0.95) throw errorInstance;
  return least;
}

describe('the whole capacity is used within 5 % while load is uneven and moves', () => {
  test.each(['rate', 'slots'] as const)('its %s', async (kind) => {
    expect(await leastUsed(kind, { seed: 1, trials: 10 })).toBeGreaterThanOrEqual(0.95);
  });

  test.each<[kind: 'rate' | 'slots', title: string, fault: Fault]>([
    ['slots', 'a fixed share for each shard', [['key_permits) < total.conc', 'key_permits) < total.conc / 3']]],
    ['slots', 'permits that nobody gives up', [["call('HDEL', key_permits, id)", '']]],
    ['rate', 'a fixed share for each shard', [['+ cost * total.T', '+ cost * total.T * 3']]],
    ['rate', 'one permit in ten that is lost', [['+ cost * total.T', '+ cost * total.T * 1.1']]],
  ])('of its %s less is noticed: %s', async (kind, _, fault) => {
    expect(await leastUsed(kind, { seed: 1, trials: 10, fault })).toBeLessThan(0.95);
  });
});
