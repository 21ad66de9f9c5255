import fc from 'fast-check';
import type { Profile } from '../../../src/model/profile.js';
import type { Outcome } from '../../../src/shaping/work-source.js';

/** Tenants with a rate, of which one has a jobRate too, and tenants whose jobs wait for a slot alone. */
export const TENANTS = ['paced', 'twice-paced', 'open-1', 'open-2', 'open-3'] as const;
export type Tenant = (typeof TENANTS)[number];

export type Terms = Pick<
  Profile,
  'ratePerSecond' | 'jobRatePerSecond' | 'burst' | 'weight' | 'concurrency' | 'depth' | 'maxBytes'
>;

/** The type as a whole. */
export interface Limits {
  readonly emissionUs: number;
  readonly burst: number;
  readonly concurrency: number;
}

export interface Job {
  readonly cost: number;
  readonly priority: number;
  readonly delayMs: number;
  readonly bytes: number;
}

/** What may happen. A `pick` names one of what there is then, modulo how many there are. */
export type Step =
  | { readonly what: 'pass'; readonly us: number }
  | { readonly what: 'admit'; readonly tenant: Tenant; readonly jobs: readonly Job[] }
  | { readonly what: 'dispatch' }
  | { readonly what: 'settle'; readonly pick: number | 'newest'; readonly outcome: Outcome; readonly next: boolean }
  | { readonly what: 'cancel'; readonly pick: number }
  | { readonly what: 're-rate'; readonly tenant: Tenant; readonly terms: Terms }
  | { readonly what: 'configure'; readonly limits: Limits }
  | { readonly what: 'pause'; readonly tenant: Tenant; readonly stopped: boolean }
  /** Workers die: what they ran is taken back. */
  | { readonly what: 'crash'; readonly mask: number };

const cost = fc.oneof(
  fc.constant(1),
  fc.constantFrom(0.001, 0.5, 2, 3.3),
  fc.double({ min: 0.01, max: 4, noNaN: true }),
);

/** Any terms of this tenant; `rate` 0 among them, which pauses it. A burst that is the same in all makes G1 sharp. */
export function termsOf(tenant: Tenant): fc.Arbitrary<Terms> {
  const isOpen = tenant.startsWith('open');
  return fc.record({
    ratePerSecond: isOpen
      ? fc.constantFrom(Infinity, Infinity, Infinity, 0)
      : fc.constantFrom(0.5, 0.5, 7.3, 40, 40, 0),
    jobRatePerSecond: tenant === 'twice-paced' ? fc.constantFrom(1, 11) : fc.constant(Infinity),
    burst: fc.constant(tenant === 'paced' ? 8 : 1),
    weight: fc.constantFrom(1, 1, 4, 8, 0.3),
    concurrency: fc.constantFrom(Infinity, 1, 2, 3),
    depth: fc.constantFrom(1000, 1000, 12, 3),
    maxBytes: fc.constantFrom(1_000_000, 1_000_000, 150, 60),
  });
}

export const limits: fc.Arbitrary<Limits> = fc.record({
  emissionUs: fc.constantFrom(2000, 10_000, 100_000),
  burst: fc.constantFrom(1, 5, 50),
  concurrency: fc.constantFrom(1e15, 1, 2, 5),
});

const job: fc.Arbitrary<Job> = fc.record({
  cost,
  priority: fc.oneof(fc.constant(4), fc.nat(9)),
  delayMs: fc.oneof(
    { weight: 3, arbitrary: fc.constant(0) },
    { weight: 1, arbitrary: fc.integer({ min: 1, max: 900 }) },
  ),
  bytes: fc.constantFrom(10, 20, 29),
});

const OFTEN: Outcome = { kind: 'completed', value: '1' };
const outcome: fc.Arbitrary<Outcome> = fc.constantFrom<Outcome>(
  ...[OFTEN, OFTEN, OFTEN, OFTEN],
  { kind: 'failed', value: 'why' },
  { kind: 'return', value: '' },
  { kind: 'retry', value: 'why', delayMs: 0, front: false },
  { kind: 'retry', value: 'why', delayMs: 0, front: true },
  { kind: 'retry', value: 'why', delayMs: 300, front: false },
);

const tenant = fc.constantFrom(...TENANTS);
const ofTenant = <Rest>(rest: (tenant: Tenant) => fc.Arbitrary<Rest>) =>
  tenant.chain((name) => rest(name).map((found) => ({ tenant: name, ...found })));

const us = fc.oneof(
  { weight: 3, arbitrary: fc.integer({ min: 1, max: 20_000 }) },
  { weight: 4, arbitrary: fc.integer({ min: 20_000, max: 400_000 }) },
  { weight: 1, arbitrary: fc.integer({ min: 400_000, max: 20_000_000 }) },
);

const reRate = ofTenant((name) => fc.record({ what: fc.constant('re-rate' as const), terms: termsOf(name) }));
const configure = fc.record({ what: fc.constant('configure' as const), limits });

const anyStep: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ what: fc.constant('pass' as const), us }) },
  {
    weight: 6,
    arbitrary: fc.record({
      what: fc.constant('admit' as const),
      tenant,
      jobs: fc.array(job, { minLength: 1, maxLength: 6 }),
    }),
  },
  { weight: 9, arbitrary: fc.constant({ what: 'dispatch' as const }) },
  {
    weight: 8,
    arbitrary: fc.record({ what: fc.constant('settle' as const), pick: fc.nat(99), outcome, next: fc.boolean() }),
  },
  { weight: 1, arbitrary: fc.record({ what: fc.constant('cancel' as const), pick: fc.nat(99) }) },
  { weight: 2, arbitrary: reRate },
  { weight: 1, arbitrary: configure },
  {
    weight: 1,
    arbitrary: fc.record({ what: fc.constant('pause' as const), tenant, stopped: fc.constantFrom(true, false, false) }),
  },
  { weight: 1, arbitrary: fc.record({ what: fc.constant('crash' as const), mask: fc.nat(255) }) },
);

/** A slot that is free works for a while: it takes a job, and the next one as soon as that is done. */
const work: fc.Arbitrary<readonly Step[]> = fc
  .integer({ min: 1, max: 20 })
  .map((times) => [
    { what: 'dispatch' },
    ...Array.from({ length: times }, (): Step => ({ what: 'settle', pick: 'newest', outcome: OFTEN, next: true })),
  ]);

/** Many jobs alike of one tenant. */
const heapOf = (owner: fc.Arbitrary<Tenant>): fc.Arbitrary<Step> =>
  fc.record({ tenant: owner, cost }).map(({ tenant, cost }) => {
    const jobs = Array.from({ length: 20 }, () => ({ cost, priority: 4, delayMs: 0, bytes: 10 }));
    return { what: 'admit', tenant, jobs };
  });

/** Two tenants share a slot. */
const contention: fc.Arbitrary<readonly Step[]> = fc
  .tuple(heapOf(fc.constant('open-1')), heapOf(fc.constant('open-2')), work, work)
  .map(([one, other, before, after]) => [one, other, ...before, ...after]);

/** Limits change in the middle of work on a heap. */
const changeAtWork: fc.Arbitrary<readonly Step[]> = fc
  .tuple(heapOf(tenant), work, fc.oneof(reRate, configure), work)
  .map(([first, before, change, after]) => [first, ...before, change, ...after]);

/** A few steps that belong together. */
export const steps: fc.Arbitrary<readonly Step[]> = fc.oneof(
  { weight: 20, arbitrary: anyStep.map((step) => [step]) },
  { weight: 4, arbitrary: work },
  { weight: 1, arbitrary: changeAtWork },
  { weight: 1, arbitrary: contention },
);
