import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { AppliedLimit, PolicerVerdict } from '../../src/policing/policer.js';
import { redisForTests } from '../lua/redis-for-tests.js';
import { excessOf, type Passed } from './judges.js';
import { leasedKind } from './kinds/leased.js';
import { localKind } from './kinds/local.js';
import { redisKinds } from './kinds/redis.js';
import { ask, freshly, limitOf, type OpenPolicer, type PolicerKind } from './kinds.js';

const server = redisForTests();
const kinds: readonly PolicerKind[] = [...redisKinds(server), localKind, leasedKind(server)];

const SECOND = 1_000_000;
const DAY = 86_400 * SECOND;

/** Runs `use` on a policer of its own. */
async function using<Result>(kind: PolicerKind, use: (open: OpenPolicer) => Promise<Result>): Promise<Result> {
  const open = await kind.open();
  try {
    return await use(open);
  } finally {
    await open.close();
  }
}

/** How many of `n` calls, one after the other, conform. */
async function passing(open: OpenPolicer, limits: AppliedLimit | readonly AppliedLimit[], n: number): Promise<number> {
  let passed = 0;
  for (let i = 0; i < n; i += 1) if ((await ask(open, limits)).verdict === 'conforming') passed += 1;
  return passed;
}

/** The readings of a verdict that has some. */
function readingsOf(verdict: PolicerVerdict) {
  if (verdict.verdict === 'cost_exceeds_max') throw new Error('no readings: the cost can never pass');
  return verdict.readings;
}

/** Units that remain, without asking for any. */
async function remaining(open: OpenPolicer, limits: AppliedLimit | readonly AppliedLimit[]): Promise<number[]> {
  const readings = readingsOf(await ask(open, limits, { cost: 1e-6, peek: true }));
  return readings.map((reading) => reading.remaining);
}

/** Every key and how it stands, for telling whether anything was stored. */
async function stored(open: OpenPolicer): Promise<readonly string[]> {
  const keys = (await open.keys?.()) ?? [];
  const dumps = await Promise.all(
    keys.map(async ({ key }) => `${key} ${(await server.redis.dumpBuffer(key))?.toString('hex')}`),
  );
  return dumps.sort();
}

/** A limit, and calls to it: how long after the one before, in parts of the window, and what they cost. */
const anyTrace = fc
  .record({
    quota: fc.oneof(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 21, max: 400 })),
    windowMs: fc.oneof(fc.constantFrom(1000, 60_000, 86_400_000), fc.integer({ min: 1000, max: 1e8 })),
    calls: fc.array(
      fc.record({
        windows: fc.oneof(
          { arbitrary: fc.constant(0), weight: 3 },
          { arbitrary: fc.double({ min: 0, max: 0.2, noNaN: true }), weight: 4 },
          { arbitrary: fc.double({ min: 0.2, max: 2.5, noNaN: true }), weight: 1 },
        ),
        part: fc.constantFrom(0, 0, 0, 0.1, 0.25, 0.5, 1),
      }),
      { minLength: 5, maxLength: 40 },
    ),
  })
  .map(({ quota, windowMs, calls }) => ({
    quota,
    windowMs,
    calls: calls.map(({ windows, part }) => ({
      afterUs: Math.round(windows * windowMs * 1000),
      cost: part === 0 ? 1 : Math.max(0.5, Math.round(part * quota * 2) / 2),
    })),
  }));

const RUNS = { numRuns: 25 };

describe.each(kinds)('$name', (kind) => {
  const limitFor = (quota: number, windowMs: number, name = 'a') => limitOf(kind.algorithm, { name, quota, windowMs });

  test('never lets more pass than the law of its algorithm', async () => {
    await fc.assert(
      fc.asyncProperty(anyTrace, async ({ quota, windowMs, calls }) => {
        await using(kind, async (open) => {
          const applied = freshly(limitFor(quota, windowMs));
          const passed: Passed[] = [];
          for (const { afterUs, cost } of calls) {
            open.advance(afterUs);
            const { verdict } = await ask(open, applied, { cost });
            if (verdict === 'conforming') passed.push({ atUs: open.nowUs(), cost });
          }
          expect(excessOf(applied.limit, passed)).toBeLessThanOrEqual(1e-3);
        });
      }),
      RUNS,
    );
  });

  test('lets a caller pass that waits as long as it is told', async () => {
    await fc.assert(
      fc.asyncProperty(anyTrace, async ({ quota, windowMs, calls }) => {
        await using(kind, async (open) => {
          const applied = freshly(limitFor(quota, windowMs));
          for (const { afterUs, cost } of calls) {
            open.advance(afterUs);
            const verdict = await ask(open, applied, { cost });
            if (verdict.verdict !== 'limited') continue;
            expect(verdict.retryAfterMs).toBeGreaterThan(0);
            expect(verdict.retryAfterMs).toBeLessThanOrEqual(2 * windowMs + 1);
            open.advance(verdict.retryAfterMs * 1000);
            expect(await ask(open, applied, { cost })).toMatchObject({ verdict: 'conforming' });
          }
        });
      }),
      RUNS,
    );
  });

  test('charges nothing for what it refuses: whoever goes on knocking fares as one who does not', async () => {
    await fc.assert(
      fc.asyncProperty(anyTrace, async ({ quota, windowMs, calls }) => {
        await using(kind, async (open) => {
          const [quiet, knocking] = [freshly(limitFor(quota, windowMs)), freshly(limitFor(quota, windowMs))];
          for (const { afterUs, cost } of calls) {
            open.advance(afterUs);
            const first = await ask(open, quiet, { cost });
            expect((await ask(open, knocking, { cost })).verdict).toBe(first.verdict);
            if (first.verdict === 'conforming') continue;
            for (let i = 0; i < 2; i += 1) expect((await ask(open, knocking, { cost })).verdict).toBe(first.verdict);
          }
        });
      }),
      RUNS,
    );
  });

  test('says by a peek what a call would come to, which changes nothing', async () => {
    await fc.assert(
      fc.asyncProperty(anyTrace, async ({ quota, windowMs, calls }) => {
        await using(kind, async (open) => {
          const [plain, peeked] = [freshly(limitFor(quota, windowMs)), freshly(limitFor(quota, windowMs))];
          for (const { afterUs, cost } of calls) {
            open.advance(afterUs);
            const expected = await ask(open, plain, { cost });
            const peek = await ask(open, peeked, { cost, peek: true });
            expect(peek.verdict).toBe(expected.verdict);
            expect((await ask(open, peeked, { cost })).verdict).toBe(expected.verdict);
          }
        });
      }),
      RUNS,
    );
  });

  test('stores nothing for a peek', async () => {
    await using(kind, async (open) => {
      const before = await stored(open);
      const applied = freshly(limitFor(10, 60_000));
      const peek = await ask(open, applied, { peek: true });
      expect(peek).toMatchObject({ verdict: 'conforming', readings: [{ remaining: 10, nextUnitMs: 0 }] });
      expect(await stored(open)).toEqual(before);
    });
  });

  test('has an end for every key', async () => {
    await using(kind, async (open) => {
      await passing(open, freshly(limitFor(5, 60_000)), 8);
      await passing(open, [freshly(limitFor(3, 1000)), freshly(limitFor(1000, 86_400_000))], 5);
      const keys = await open.keys?.();
      if (keys === undefined) return;
      expect(keys.length).toBeGreaterThanOrEqual(3);
      for (const { ttlMs } of keys) expect(ttlMs).toBeGreaterThan(0);
    });
  });

  test('tells a cost above the quota, for good, what can pass; and charges nothing for it', async () => {
    await using(kind, async (open) => {
      const applied = freshly(limitFor(10, 60_000));
      for (const cost of [10.5, 11, 1e9]) {
        expect(await ask(open, applied, { cost })).toEqual({ verdict: 'cost_exceeds_max', limitedBy: 0, max: 10 });
      }
      expect(await ask(open, applied, { cost: 11, peek: true })).toMatchObject({ verdict: 'cost_exceeds_max' });
      open.advance(DAY);
      expect(await ask(open, applied, { cost: 11 })).toMatchObject({ verdict: 'cost_exceeds_max' });
      expect(await ask(open, applied, { cost: 10 })).toMatchObject({ verdict: 'conforming' });
    });
  });

  test('of several limits names the smallest that can never let the cost pass', async () => {
    await using(kind, async (open) => {
      const limits = [limitFor(50, 1000), limitFor(5, 60_000, 'b'), limitFor(10, 60_000, 'c')].map(freshly);
      expect(await ask(open, limits, { cost: 12 })).toEqual({ verdict: 'cost_exceeds_max', limitedBy: 1, max: 5 });
      expect(await remaining(open, limits)).toEqual([50, 5, 10]);
    });
  });

  test('decides about several limits together: refused by one, charged to none', async () => {
    await using(kind, async (open) => {
      const limits = [limitFor(100, 60_000), limitFor(3, 1000, 'b'), limitFor(50, 86_400_000, 'c')].map(freshly);
      expect(await passing(open, limits, 10)).toBe(3);
      expect(await remaining(open, limits)).toEqual([97, 0, 47]);
      open.advance(10 * SECOND);
      expect(await passing(open, limits, 10)).toBe(3);
      const left = await remaining(open, limits);
      // The bucket of a minute has leaked all of the first three meanwhile; windows have not, and a day is long.
      expect(left.map(Math.floor)).toEqual([kind.algorithm === 'token-bucket' ? 97 : 94, 0, 44]);
    });
  });

  test('names the limit that is the last to let the call pass, and its wait is the call’s', async () => {
    await using(kind, async (open) => {
      const limits = [limitFor(2, 1000), limitFor(2, 60_000, 'b'), limitFor(2, 5000, 'c')].map(freshly);
      expect(await passing(open, limits, 2)).toBe(2);
      const verdict = await ask(open, limits);
      expect(verdict).toMatchObject({ verdict: 'limited', limitedBy: 1 });
      if (verdict.verdict !== 'limited') return;
      open.advance(verdict.retryAfterMs * 1000);
      expect(await ask(open, limits)).toMatchObject({ verdict: 'conforming' });
    });
  });

  test('lets everything pass where there is no limit', async () => {
    await using(kind, async (open) => {
      expect(await ask(open, [], { cost: 1e9 })).toMatchObject({ verdict: 'conforming', readings: [] });
    });
  });

  test('has again what is given back', async () => {
    await using(kind, async (open) => {
      const limits = [limitFor(10, 60_000), limitFor(20, 3_600_000, 'b')].map(freshly);
      await ask(open, limits, { cost: 3 });
      const verdict = await ask(open, limits, { cost: 6.5 });
      expect(readingsOf(verdict).map((reading) => reading.remaining.toFixed(6))).toEqual(['0.500000', '10.500000']);
      if (verdict.verdict !== 'conforming') throw new Error(verdict.verdict);
      await verdict.giveBack();
      expect(await remaining(open, limits)).toEqual([7, 17]);
      expect(await passing(open, limits, 10)).toBe(7);
    });
  });

  test('gives back nothing to whoever comes late: the law holds for what was kept', async () => {
    await using(kind, async (open) => {
      const applied = freshly(limitFor(10, 10_000));
      const early = await ask(open, applied, { cost: 10 });
      open.advance(25 * SECOND);
      expect(await ask(open, applied, { cost: 10 })).toMatchObject({ verdict: 'conforming' });
      if (early.verdict !== 'conforming') throw new Error(early.verdict);
      await early.giveBack();
      expect(await remaining(open, applied)).toEqual([0]);
    });
  });

  test.each(Array.from({ length: 20 }, (_, i) => i + 1))(
    'lets exactly %i of a limit of so many pass at once',
    async (n) => {
      for (const windowMs of [1000, 3000, 7777, 60_000, 1e8 / 3]) {
        await using(kind, async (open) => {
          open.advance(1234.5);
          expect(await passing(open, freshly(limitFor(n, windowMs)), n + 3)).toBe(n);
        });
      }
    },
  );

  test('lets exactly as many pass when all come at the same time', async () => {
    await using(kind, async (open) => {
      const limits = [limitFor(30, 60_000), limitFor(40, 60_000, 'b')].map(freshly);
      const verdicts = await Promise.all(Array.from({ length: 100 }, () => ask(open, limits)));
      expect(verdicts.filter(({ verdict }) => verdict === 'conforming')).toHaveLength(30);
      expect(await remaining(open, limits)).toEqual([0, 10]);
    });
  });

  test('lets pass what it says remains, and no more', async () => {
    await using(kind, async (open) => {
      const applied = freshly(limitFor(20, 60_000));
      for (const pauseMs of [0, 1000, 40_000, 7000, 61_000, 3333]) {
        open.advance(pauseMs * 1000);
        const [before = 0] = await remaining(open, applied);
        const wanted = Math.min(12, Math.floor(before));
        expect(await passing(open, applied, wanted)).toBe(wanted);
        const [after = 0] = await remaining(open, applied);
        expect(after).toBeCloseTo(before - wanted, 5);
      }
    });
  });

  test('has one whole unit more when it says so, and none when it is whole', async () => {
    await using(kind, async (open) => {
      const applied = freshly(limitFor(6, 60_000));
      for (const pauseMs of [0, 500, 9000, 0, 0, 0, 100]) {
        open.advance(pauseMs * 1000);
        const [reading] = readingsOf(await ask(open, applied));
        if (reading === undefined) throw new Error('no reading');
        expect(reading.nextUnitMs).toBeGreaterThan(0);
        open.advance(Math.ceil(reading.nextUnitMs * 1000));
        const [later = 0] = await remaining(open, applied);
        expect(later).toBeGreaterThanOrEqual(Math.min(6, Math.floor(reading.remaining) + 1) - 1e-3);
      }
      open.advance(DAY);
      expect(readingsOf(await ask(open, applied, { peek: true }))).toEqual([
        { limit: applied.limit, remaining: 6, nextUnitMs: 0 },
      ]);
    });
  });

  test('is exactly full, not more, when nobody came for ten years', async () => {
    await using(kind, async (open) => {
      const applied = freshly(limitFor(100, 50_000));
      expect(await passing(open, applied, 120)).toBe(100);
      open.advance(10 * 365 * DAY);
      expect(await remaining(open, applied)).toEqual([100]);
      expect(await passing(open, applied, 120)).toBe(100);
    });
  });

  test('counts each subject by itself, whatever it is called', async () => {
    await using(kind, async (open) => {
      const limit = limitFor(2, 60_000);
      const subjects = ['__proto__', 'constructor', 'a:b', '{a}', 'a*', 'é', 'e\u0301', '\0', '\r\n', '🪣', ' '];
      for (const subject of subjects) {
        expect(await passing(open, { limit, subject: `${freshly(limit).subject}${subject}` }, 3)).toBe(2);
      }
    });
  });
});
