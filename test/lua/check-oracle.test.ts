import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Limit, quotaOf } from '../../src/model/limit.js';
import { BEGIN_US, bucket, counter, type LimitCall, LimitDesk, log, type Taken } from './limit-desk.js';
import { type LimitOracle, oracleOf } from './limit-oracles.js';
import { redisForTests } from './redis-for-tests.js';

const server = redisForTests();

const LAST_DIGITS = 1e-9;

/** Numbers that a double holds exactly, so that script and oracle agree to the last digit also on the very edge. */
const quota = fc.oneof(fc.integer({ min: 1, max: 12 }), fc.constantFrom(2.5, 0.5, 60, 1000));
const windowMs = fc.constantFrom(1000, 8000, 60_000, 3_600_000);
const anyLimit: fc.Arbitrary<Limit> = fc.oneof(
  fc.tuple(fc.constantFrom(0.25, 1, 2, 5, 1000), quota).map(([rate, burst]) => bucket(rate, burst)),
  fc.tuple(quota, windowMs).map(([limit, ms]) => log(limit, ms)),
  fc.tuple(quota, windowMs).map(([limit, ms]) => counter(limit, ms)),
);

type Step =
  | { readonly kind: 'wait' | 'step back'; readonly us: number }
  | { readonly kind: 'call' | 'peek'; readonly cost: number; readonly second: boolean }
  | { readonly kind: 'refund'; readonly nth: number };

const anyStep: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: anyMoment(0, 3_000_000).map((us) => ({ kind: 'wait' as const, us })) },
  { weight: 1, arbitrary: anyMoment(0, 90_000_000).map((us) => ({ kind: 'wait' as const, us })) },
  { weight: 1, arbitrary: anyMoment(0, 20_000_000).map((us) => ({ kind: 'step back' as const, us })) },
  {
    weight: 10,
    arbitrary: fc.record({
      kind: fc.constantFrom('call' as const, 'call' as const, 'peek' as const),
      cost: fc.oneof(fc.constant(1), fc.constantFrom(0.5, 0.25, 2, 3.5, 7)),
      second: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.nat({ max: 4 }).map((nth) => ({ kind: 'refund' as const, nth })) },
);

/** Microseconds in quarters of a millisecond: coarse enough for calls to meet at one instant, and for exact sums. */
function anyMoment(min: number, max: number): fc.Arbitrary<number> {
  return fc.integer({ min: min / 250, max: max / 250 }).map((quarters) => quarters * 250);
}

interface Sample {
  /** Its name on the desk. */
  readonly subject: string;
  readonly limit: Limit;
  readonly oracle: LimitOracle;
}

/** A script's limits beside their oracles. */
class Pair {
  readonly desk = new LimitDesk(server.redis);
  readonly #samples: readonly Sample[];
  readonly #taken: { readonly cost: number; readonly samples: readonly Sample[]; readonly report: Taken }[] = [];

  constructor(limits: readonly Limit[]) {
    this.#samples = limits.map((limit, i) => ({ subject: `limit ${i}`, limit, oracle: oracleOf(limit) }));
  }

  async run(step: Step): Promise<void> {
    switch (step.kind) {
      case 'wait':
        this.desk.nowUs += step.us;
        return;
      case 'step back':
        this.desk.nowUs = Math.max(BEGIN_US, this.desk.nowUs - step.us);
        return;
      case 'refund':
        return this.#refund(step.nth);
      default:
        return this.#call(this.#samples.slice(0, step.second ? 2 : 1), step.cost, step.kind === 'peek');
    }
  }

  async #call(samples: readonly Sample[], cost: number, peek: boolean): Promise<void> {
    if (samples.some(({ limit }) => cost > quotaOf(limit))) return;
    const us = this.desk.nowUs;
    const limits = Object.fromEntries(samples.map(({ subject, limit }) => [subject, limit]));
    const report = await this.desk.ask({ limits, cost, peek });
    expect(report.conforming).toBe(samples.every(({ oracle }) => oracle.remaining(us) >= cost - LAST_DIGITS));
    if (!peek) for (const { oracle } of samples) report.conforming ? oracle.charge(us, cost) : oracle.settle(us);
    for (const [i, { oracle }] of samples.entries()) {
      expect(report.readings[i]?.remaining).toBeCloseTo(oracle.remaining(us), 5);
    }
    // A peek does not bring to now what a clock that stepped back has left ahead, so its wait rests on a call that does.
    if (peek) return;
    if (!report.conforming) await this.#waitIsTrue({ limits, cost, peek: true }, report);
    else this.#taken.push({ cost, samples, report });
  }

  /** Two microseconds earlier the call is refused; then it passes. */
  async #waitIsTrue(call: LimitCall, { waitsUs }: Taken): Promise<void> {
    const waitUs = Math.max(...waitsUs);
    if (waitUs < 2) return;
    const later = [waitUs - 2, waitUs].map((us) => this.desk.decide([call], this.desk.nowUs + us));
    const [early, onTime] = await Promise.all(later);
    expect(early).toMatchObject([{ conforming: false }]);
    expect(onTime).toMatchObject([{ conforming: true }]);
  }

  async #refund(nth: number): Promise<void> {
    const [taken] = this.#taken.splice(nth, 1);
    if (!taken) return;
    const { report, cost, samples } = taken;
    await this.desk.refund(report);
    for (const [i, { oracle }] of samples.entries()) {
      oracle.refund(this.desk.nowUs, cost, report.atUs, (report.heldNs[i] ?? 0) / 1000);
    }
  }
}

describe('whatever is called, peeked at and given back, in steps of any clock', () => {
  test('the script says what its algorithm says in the plainest form', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.tuple(anyLimit, anyLimit),
        fc.array(anyStep, { minLength: 10, maxLength: 60 }),
        async (limits, steps) => {
          const pair = new Pair(limits);
          for (const step of steps) await pair.run(step);
        },
      ),
      { numRuns: 150 },
    );
  });
});
