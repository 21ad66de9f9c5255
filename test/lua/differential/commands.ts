import fc from 'fast-check';
import type { Profile } from '../../../src/model/profile.js';
import type { RunOutcome } from '../../../src/model/scheduler/end-run.js';
import type { Capacity } from '../script-shard.js';

export const TENANTS = ['a', 'b', 'c', 'd'] as const;
export type Tenant = (typeof TENANTS)[number];

/** A job of an `admit` command; its id is given when the command is carried out. */
export interface Offered {
  readonly priority: number;
  readonly cost: number;
  readonly delayMs: number;
  readonly bytes: number;
  /** From now; 0 or less is past. */
  readonly startByMs: number | undefined;
  /** Take the id of an earlier job, if there is one, instead of a new one. */
  readonly replayOf: number | undefined;
}

/** What an `admit` command asks of one bucket. */
export interface Requested {
  readonly tenant: Tenant;
  readonly profile: Partial<Profile>;
  readonly jobs: readonly Offered[];
}

/** How a run ends, and whether its slot asks for the next job. */
export interface RunEnd {
  readonly pick: number;
  readonly outcome: RunOutcome;
  readonly next: boolean;
}

/**
 * One step of both sides. A `pick` names one of what there is when the command is carried out, modulo how many there are,
 * so that any part of a list of commands is a list of commands: that is what makes a failure shrink.
 */
export type Command =
  | { readonly verb: 'pass'; readonly us: number }
  /** Go to the next instant at which something falls due or expires, or to just before or after it. */
  | { readonly verb: 'approach'; readonly byUs: number }
  /** Several requests go in one call. */
  | { readonly verb: 'admit'; readonly requests: readonly Requested[] }
  | { readonly verb: 'dispatch'; readonly limit: number }
  /** Several runs go in one call. */
  | { readonly verb: 'settle'; readonly ends: readonly RunEnd[]; readonly limit: number }
  | { readonly verb: 'settle-lost'; readonly pick: number }
  | { readonly verb: 'repeat' }
  | { readonly verb: 'charge'; readonly pick: number; readonly cost: number }
  | { readonly verb: 'cancel'; readonly pick: number }
  | { readonly verb: 'retime'; readonly tenant: Tenant; readonly profile: Partial<Profile> }
  | { readonly verb: 'pause'; readonly tenant: Tenant; readonly stopped: boolean }
  | { readonly verb: 'configure'; readonly capacity: Capacity }
  | { readonly verb: 'recover'; readonly mask: number; readonly maxStalled: number }
  | { readonly verb: 'read'; readonly pick: number }
  | { readonly verb: 'inspect'; readonly tenant: Tenant }
  | { readonly verb: 'sweep' };

const tenant = fc.constantFrom(...TENANTS);
const pick = fc.nat(1000);

/** From standing still over microseconds to years, and back. */
const us = fc.oneof(
  { weight: 2, arbitrary: fc.constant(0) },
  { weight: 3, arbitrary: fc.integer({ min: 1, max: 2000 }) },
  { weight: 6, arbitrary: fc.integer({ min: 1000, max: 1_500_000 }) },
  { weight: 2, arbitrary: fc.integer({ min: 1_000_000, max: 60_000_000 }) },
  { weight: 1, arbitrary: fc.integer({ min: 3_600_000_000, max: 90_000_000_000 }) },
  { weight: 1, arbitrary: fc.integer({ min: -90_000_000, max: -1 }) },
);

const cost = fc.oneof(
  { weight: 4, arbitrary: fc.constant(1) },
  { weight: 3, arbitrary: fc.constantFrom(0.25, 0.5, 2, 3, 10.125, 10_000) },
  { weight: 1, arbitrary: fc.constantFrom(0.001, 0.1, 0.3, 7.77) },
);

const job: fc.Arbitrary<Offered> = fc.record({
  priority: fc.oneof(fc.constant(4), fc.nat(9)),
  cost,
  delayMs: fc.oneof(
    { weight: 4, arbitrary: fc.constant(0) },
    { weight: 1, arbitrary: fc.integer({ min: 1, max: 5000 }) },
  ),
  bytes: fc.constantFrom(10, 11, 20, 29),
  startByMs: fc.option(fc.integer({ min: -10, max: 8000 }), { freq: 5, nil: undefined }),
  replayOf: fc.option(fc.nat(50), { freq: 9, nil: undefined }),
});

const rates = [1, 3, 0.5, 7.3, 100, 1000, Infinity];

function profile(pausing: boolean): fc.Arbitrary<Partial<Profile>> {
  const ratePerSecond = fc.constantFrom(...rates, ...(pausing ? [0] : []));
  return fc.record({
    ratePerSecond,
    burst: fc.constantFrom(1, 1, 2.5, 8),
    jobRatePerSecond: fc.constantFrom(Infinity, Infinity, 2, 11, ...(pausing ? [0] : [])),
    weight: fc.constantFrom(1, 1, 4, 0.5, 0.3),
    concurrency: fc.constantFrom(Infinity, 1, 2, 3),
    depth: fc.constantFrom(1000, 6, 3),
    maxBytes: fc.constantFrom(1_000_000, 150, 60),
    maxWaitMs: fc.constantFrom(Infinity, Infinity, 4000),
    mode: fc.constantFrom('shape' as const, 'shape' as const, 'police' as const),
  });
}

const capacity: fc.Arbitrary<Capacity> = fc.record({
  emissionUs: fc.constantFrom(0, 0, 50_000, 333_333.3, 1_000_000, Infinity),
  burst: fc.constantFrom(1, 1, 20),
  concurrency: fc.constantFrom(1e15, 1, 2, 5),
  slackUs: fc.constantFrom(25_000, 250_000),
});

const busy: fc.Arbitrary<RunOutcome> = fc.record({
  kind: fc.constant('busy' as const),
  holdMs: fc.constantFrom(0, 5, 700, 4000),
  scope: fc.constantFrom('bucket' as const, 'bucket' as const, 'type' as const),
});

const outcome: fc.Arbitrary<RunOutcome> = fc.oneof(
  { weight: 6, arbitrary: fc.constant({ kind: 'completed' as const }) },
  { weight: 1, arbitrary: fc.constantFrom({ kind: 'failed' as const }, { kind: 'cancelled' as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'return' as const }) },
  { weight: 1, arbitrary: busy },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('retry' as const),
      delayMs: fc.constantFrom(0, 0, 7, 3000),
      front: fc.boolean(),
    }),
  },
);

function endsWith(how: fc.Arbitrary<RunOutcome>): fc.Arbitrary<RunEnd[]> {
  return fc.array(fc.record({ pick, outcome: how, next: fc.boolean() }), { minLength: 1, maxLength: 3 });
}

/** An upstream that is busy is so for many at once. */
const ends = fc.oneof({ weight: 9, arbitrary: endsWith(outcome) }, { weight: 1, arbitrary: endsWith(busy) });

const limit = fc.oneof(
  { weight: 9, arbitrary: fc.constant(100) },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 3 }) },
);

/**
 * Any command. With `sweeps`, quiet buckets are forgotten; the model never forgets, so that its answers say whether a
 * forgotten bucket differs from a remembered one. What only a remembered bucket can know is then left out: a rate of 0,
 * which keeps the interval before it, and whether a profile is a new one.
 */
export function anyCommand(sweeps: boolean): fc.Arbitrary<Command> {
  const profiles = profile(!sweeps);
  const request = fc.record({ tenant, profile: profiles, jobs: fc.array(job, { maxLength: 5 }) });
  const always: fc.WeightedArbitrary<Command>[] = [
    { weight: 10, arbitrary: fc.record({ verb: fc.constant('pass'), us }) },
    {
      weight: 6,
      arbitrary: fc.record({ verb: fc.constant('approach'), byUs: fc.constantFrom(-1000, -1, 0, 0, 1, 400) }),
    },
    {
      weight: 10,
      arbitrary: fc.record({
        verb: fc.constant('admit'),
        requests: fc.oneof(
          { weight: 4, arbitrary: fc.tuple(request) },
          { weight: 1, arbitrary: fc.array(request, { minLength: 2, maxLength: 3 }) },
        ),
      }),
    },
    { weight: 16, arbitrary: fc.record({ verb: fc.constant('dispatch'), limit }) },
    { weight: 10, arbitrary: fc.record({ verb: fc.constant('settle'), ends, limit }) },
    { weight: 1, arbitrary: fc.record({ verb: fc.constant('settle-lost'), pick }) },
    { weight: 2, arbitrary: fc.record({ verb: fc.constant('repeat') }) },
    { weight: 3, arbitrary: fc.record({ verb: fc.constant('charge'), pick, cost }) },
    { weight: 3, arbitrary: fc.record({ verb: fc.constant('cancel'), pick }) },
    { weight: 1, arbitrary: fc.record({ verb: fc.constant('pause'), tenant, stopped: fc.boolean() }) },
    { weight: 1, arbitrary: fc.record({ verb: fc.constant('configure'), capacity }) },
    { weight: 1, arbitrary: fc.record({ verb: fc.constant('recover'), mask: fc.nat(255), maxStalled: fc.nat(2) }) },
    { weight: 2, arbitrary: fc.record({ verb: fc.constant('read'), pick }) },
    { weight: 1, arbitrary: fc.record({ verb: fc.constant('inspect'), tenant }) },
  ];
  const retime = fc.record({ verb: fc.constant('retime' as const), tenant, profile: profiles });
  const sweep = fc.constant({ verb: 'sweep' as const });
  return fc.oneof(...always, sweeps ? { weight: 3, arbitrary: sweep } : { weight: 2, arbitrary: retime });
}
