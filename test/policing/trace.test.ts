import { describe, expect, test } from 'vitest';
import { redisForTests } from '../lua/redis-for-tests.js';
import { leasedKind } from './kinds/leased.js';
import { localKind } from './kinds/local.js';
import { redisKinds } from './kinds/redis.js';
import { ask, freshly, limitOf, type PolicerKind } from './kinds.js';

const server = redisForTests();

/** Whether a call passes and what is left then; or how long it has to wait. */
type Outcome = { readonly remaining: number } | { readonly retryAfterMs: number };

const left = (remaining: number): Outcome => ({ remaining });
const wait = (retryAfterMs: number): Outcome => ({ retryAfterMs });

/**
 * 5 units in 10 s, worked out by hand. The trace begins where a window of the clock begins.
 *
 * - The bucket leaks a unit in 2 s: a refused call waits until there is room for what it costs.
 * - The log lets a call leave 10 s after it came. At 8 s it holds the five units of 0, 1 and 3 s: three of them have left
 *   at 11 s.
 * - The counter takes the five units of the first window as evenly spread: at 12 s eight tenths of them count, which is 4;
 *   at 14 s six tenths, which is 3, beside the one of 12 s. The two of the second window are down to 1 at 25 s.
 */
const TRACE: readonly (readonly [atS: number, cost: number, bucket: Outcome, log: Outcome, counter: Outcome])[] = [
  [0, 1, left(4), left(4), left(4)],
  [1, 2, left(2.5), left(2), left(2)],
  [3, 2, left(1.5), left(0), left(0)],
  [3, 2, wait(1000), wait(8000), wait(11_000)],
  [4, 2, left(0), wait(7000), wait(10_000)],
  [5, 1, wait(1000), wait(5000), wait(7000)],
  [8, 3, wait(2000), wait(3000), wait(8000)],
  [9, 2, left(0.5), wait(2000), wait(5000)],
  [10, 1, left(0), left(0), wait(2000)],
  [12, 1, left(0), left(1), left(0)],
  [14, 1, left(0), left(2), left(0)],
  [16, 4, wait(6000), wait(6000), wait(9000)],
  [22, 4, left(0), left(0), wait(3000)],
  [60, 5, left(0), left(0), left(0)],
  [60, 6, wait(Number.POSITIVE_INFINITY), wait(Number.POSITIVE_INFINITY), wait(Number.POSITIVE_INFINITY)],
];

const COLUMNS = { 'token-bucket': 2, 'sliding-window-log': 3, 'sliding-window-counter': 4 } as const;

async function outcomes(kind: PolicerKind): Promise<Outcome[]> {
  const open = await kind.open();
  const applied = freshly(limitOf(kind.algorithm, { quota: 5, windowMs: 10_000 }));
  open.advance(10e6 - (open.nowUs() % 10e6));
  const beginUs = open.nowUs();
  const came: Outcome[] = [];
  for (const [atS, cost] of TRACE) {
    open.advance(beginUs + atS * 1e6 - open.nowUs());
    const verdict = await ask(open, applied, { cost });
    if (verdict.verdict === 'conforming') came.push(left(Number(verdict.readings[0]?.remaining.toFixed(4))));
    else came.push(wait(verdict.verdict === 'limited' ? verdict.retryAfterMs : Number.POSITIVE_INFINITY));
  }
  await open.close();
  return came;
}

describe('one trace through every kind', () => {
  test.each([...redisKinds(server), localKind, leasedKind(server)])('$name', async (kind) => {
    expect(await outcomes(kind)).toEqual(TRACE.map((row) => row[COLUMNS[kind.algorithm]]));
  });
});

/** The worked examples of token buckets: how many of `of` calls at once pass `seconds` after all was used up. */
const EXAMPLES = [
  { rate: 5, burst: 10, seconds: 0, of: 12, pass: 10 },
  { rate: 5, burst: 10, seconds: 1, of: 12, pass: 5 },
  { rate: 2, burst: 5, seconds: 3, of: 10, pass: 5 },
  { rate: 2, burst: 100, seconds: 21, of: 900, pass: 42 },
];

describe.each(
  [...redisKinds(server), localKind, leasedKind(server)].filter(({ algorithm }) => algorithm === 'token-bucket'),
)('worked examples: $name', (kind) => {
  test.each(EXAMPLES)('$burst units at $rate a second, used up: $pass of $of pass after $seconds s', async (row) => {
    const open = await kind.open();
    const { rate: ratePerSecond, burst } = row;
    const applied = freshly({ algorithm: 'token-bucket', name: 'a', per: 'key', ratePerSecond, burst });
    if (row.seconds > 0) for (let i = 0; i < burst; i += 1) await ask(open, applied);
    open.advance(row.seconds * 1e6);
    let passed = 0;
    for (let i = 0; i < row.of; i += 1) if ((await ask(open, applied)).verdict === 'conforming') passed += 1;
    expect(passed).toBe(row.pass);
    await open.close();
  });

  test('an upload that costs 10: ten of them use up 100 units, the next one waits 5 s at 2 a second', async () => {
    const open = await kind.open();
    const applied = freshly({ algorithm: 'token-bucket', name: 'a', per: 'key', ratePerSecond: 2, burst: 100 });
    for (let i = 0; i < 10; i += 1)
      expect(await ask(open, applied, { cost: 10 })).toMatchObject({ verdict: 'conforming' });
    expect(await ask(open, applied, { cost: 10 })).toMatchObject({ verdict: 'limited', retryAfterMs: 5000 });
    await open.close();
  });
});
