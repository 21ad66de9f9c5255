import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  canEverPass,
  charge,
  conforms,
  EMPTY_TAT_US,
  giveBack,
  levelOf,
  type Meter,
  meterOf,
  nextUnitUs,
  remainingOf,
  reRated,
  waitUs,
} from '../../src/model/gcra.js';
import { excessOfBucket, type Passed } from '../policing/judges.js';

const SECOND = 1_000_000;

/** A meter in use: one call after another, each at an instant that is not before the last one. */
class Gate {
  readonly meter: Meter;
  readonly passed: Passed[] = [];
  tatUs = EMPTY_TAT_US;
  nowUs = 0;

  constructor(ratePerSecond: number, burst: number) {
    this.meter = meterOf(ratePerSecond, burst);
  }

  call(cost = 1): boolean {
    if (!conforms(this.meter, this.tatUs, cost, this.nowUs)) return false;
    this.tatUs = charge(this.meter, this.tatUs, cost, this.nowUs);
    this.passed.push({ atUs: this.nowUs, cost });
    return true;
  }

  /** How many of `n` calls at once pass. */
  calls(n: number, cost = 1): number {
    return Array.from({ length: n }, () => this.call(cost)).filter(Boolean).length;
  }
}

/** Rates from 1e-6 to 1e6 a second, evenly over the powers of ten, few of them round. */
const anyRate = fc.double({ min: -6, max: 6, noNaN: true }).map((power) => 10 ** power);
const anyBurst = fc.oneof(fc.integer({ min: 1, max: 20 }), fc.double({ min: 1, max: 5000, noNaN: true }));
/** Calls: how long after the one before, in emission intervals, and what they cost, in parts of the burst. */
const anyCalls = fc.array(
  fc.record({
    intervals: fc.oneof(fc.constant(0), fc.double({ min: 0, max: 20, noNaN: true })),
    part: fc.oneof(fc.constant(0), fc.double({ min: 1e-3, max: 1, noNaN: true })),
  }),
  { minLength: 1, maxLength: 120 },
);

describe('the law of the bucket', () => {
  test('in any window of t seconds at most burst + rate · t pass, whatever the calls', () => {
    fc.assert(
      fc.property(anyRate, anyBurst, anyCalls, (rate, burst, calls) => {
        const gate = new Gate(rate, burst);
        for (const { intervals, part } of calls) {
          gate.nowUs += intervals * gate.meter.emissionUs;
          gate.call(part === 0 ? 1 : part * burst);
        }
        expect(excessOfBucket(rate, burst, gate.passed)).toBeLessThanOrEqual(2e-3);
      }),
    );
  });

  test('a caller that waits as long as it is told always passes, and never before', () => {
    fc.assert(
      fc.property(anyRate, anyBurst, anyCalls, (rate, burst, calls) => {
        const gate = new Gate(rate, burst);
        for (const { intervals, part } of calls) {
          gate.nowUs += intervals * gate.meter.emissionUs;
          const cost = part === 0 ? 1 : part * burst;
          if (gate.call(cost)) continue;
          const wait = waitUs(gate.meter, gate.tatUs, cost, gate.nowUs);
          expect(conforms(gate.meter, gate.tatUs, cost, gate.nowUs + wait * 0.99 - 0.01 * gate.meter.emissionUs)).toBe(
            false,
          );
          gate.nowUs += wait;
          expect(gate.call(cost)).toBe(true);
        }
      }),
    );
  });

  test('what remains passes, and a hair more does not', () => {
    fc.assert(
      fc.property(anyRate, anyBurst, anyCalls, (rate, burst, calls) => {
        const gate = new Gate(rate, burst);
        for (const { intervals, part } of calls) {
          gate.nowUs += intervals * gate.meter.emissionUs;
          gate.call(part === 0 ? 1 : part * burst);
          const remaining = remainingOf(gate.meter, gate.tatUs, gate.nowUs);
          if (remaining >= 1) expect(conforms(gate.meter, gate.tatUs, remaining, gate.nowUs)).toBe(true);
          expect(conforms(gate.meter, gate.tatUs, remaining + 0.01, gate.nowUs)).toBe(false);
        }
      }),
    );
  });
});

describe('worked examples', () => {
  test.each([
    { rate: 5, burst: 10, seconds: 0, of: 12, pass: 10 },
    { rate: 5, burst: 10, seconds: 1, of: 12, pass: 5 },
    { rate: 2, burst: 5, seconds: 3, of: 10, pass: 5 },
    { rate: 2, burst: 100, seconds: 21, of: 1000, pass: 42 },
  ])(
    '$burst units at $rate a second, used up: after $seconds s $pass of $of pass',
    ({ rate, burst, seconds, of, pass }) => {
      const gate = new Gate(rate, burst);
      if (seconds > 0) gate.calls(burst);
      gate.nowUs += seconds * SECOND;
      expect(gate.calls(of)).toBe(pass);
    },
  );

  test('an upload that costs 10: ten of them use up 100 units', () => {
    expect(new Gate(2, 100).calls(11, 10)).toBe(10);
  });

  test.each(Array.from({ length: 20 }, (_, i) => i + 1))(
    'a limit of %i lets exactly as many pass, at any rate',
    (n) => {
      for (const rate of [3, 7 / 60, 1e-6, 1 / 3, 49.99, 7e5, 1e6]) {
        const gate = new Gate(rate, n);
        gate.nowUs = 86_400 * SECOND + 0.123;
        expect(gate.calls(n + 5)).toBe(n);
      }
    },
  );

  test.each([3, 7 / 60, 1e-6, 1e-4, 0.5, 1 / 3, 12_345.6, 7e5, 1e6])(
    'a rate of %d a second is right to a thousandth',
    (rate) => {
      const gate = new Gate(rate, 1);
      const calls = 2000;
      for (let n = 0; n < calls; n += 1) {
        gate.nowUs += waitUs(gate.meter, gate.tatUs, 1, gate.nowUs);
        expect(gate.call()).toBe(true);
      }
      const seconds = gate.nowUs / SECOND;
      expect(Math.abs((calls - 1) / seconds / rate - 1)).toBeLessThan(1e-3);
    },
  );

  test('idle for ten years it is exactly full, not more', () => {
    const gate = new Gate(2, 100);
    gate.calls(100);
    gate.nowUs += 10 * 365 * 86_400 * SECOND;
    expect(remainingOf(gate.meter, gate.tatUs, gate.nowUs)).toBe(100);
    expect(gate.calls(150)).toBe(100);
  });
});

describe('a bucket', () => {
  const meter = meterOf(2, 10);

  test('never lets pass what it cannot hold', () => {
    expect(canEverPass(meter, 10)).toBe(true);
    expect(canEverPass(meter, 10.001)).toBe(false);
  });

  test.each([
    { level: 0, remaining: 10, nextUnit: 0 },
    { level: 0.5, remaining: 9.5, nextUnit: 0.25 * SECOND },
    { level: 3, remaining: 7, nextUnit: 0.5 * SECOND },
    { level: 9.75, remaining: 0.25, nextUnit: 0.375 * SECOND },
    { level: 10, remaining: 0, nextUnit: 0.5 * SECOND },
  ])('that holds $level of 10 has room for $remaining and for one whole unit more in $nextUnit µs', (row) => {
    const tatUs = row.level * meter.emissionUs;
    expect(levelOf(meter, tatUs, 0)).toBe(row.level);
    expect(remainingOf(meter, tatUs, 0)).toBe(row.remaining);
    expect(nextUnitUs(meter, row.remaining)).toBe(row.nextUnit);
  });

  test('says of odd rates how many whole units remain', () => {
    const gate = new Gate(3, 10);
    gate.nowUs = 1234.5;
    for (let left = 9; left >= 0; left -= 1) {
      gate.call();
      expect(remainingOf(gate.meter, gate.tatUs, gate.nowUs)).toBe(left);
    }
  });

  test('is as before when a call is undone at once', () => {
    const before = charge(meter, EMPTY_TAT_US, 3, 0);
    const after = charge(meter, before, 4, 100);
    expect(giveBack(meter, after, 4, after, 100)).toBeCloseTo(before, 6);
  });

  test('gains nothing when a call is undone that has leaked away since', () => {
    const first = charge(meter, EMPTY_TAT_US, 4, 0);
    const others = charge(meter, first, 10, 3 * SECOND);
    expect(giveBack(meter, others, 4, first, 3 * SECOND)).toBe(others);
    expect(giveBack(meter, first, 4, first, 1.5 * SECOND)).toBe(1.5 * SECOND);
  });

  test('keeps its level when the rate changes', () => {
    const faster = meterOf(20, 10);
    const tatUs = charge(meter, EMPTY_TAT_US, 6, 1000);
    expect(levelOf(faster, reRated(tatUs, meter, faster, 1000), 1000)).toBeCloseTo(6, 9);
    expect(reRated(500, meter, faster, 1000)).toBe(500);
  });
});
