import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Profile } from '../../src/model/profile.js';
import { redisForTests } from './redis-for-tests.js';
import type { JobSpec, ScriptShard } from './script-shard.js';
import { shapedQueue } from './shaped-queue.js';

const redis = redisForTests();
const SECOND = 1_000_000;
const POLICED: Partial<Profile> = { mode: 'police', ratePerSecond: 2, burst: 5 };
const SHAPED: Partial<Profile> = { ...POLICED, mode: 'shape' };
const completed = { kind: 'completed', value: '1' } as const;
const again = { kind: 'retry', value: 'again', delayMs: 0, front: false } as const;

const jobs = (n: number, spec: Partial<JobSpec> = {}, mark = 'j'): JobSpec[] =>
  Array.from({ length: n }, (_, i) => ({ id: `${mark}${String(i).padStart(3, '0')}`, ...spec }));

/** What the door said of each job: `ok`, or the reason and when to come again (µs). */
async function door(shard: ScriptShard, specs: readonly JobSpec[], profile: Partial<Profile> | '' = POLICED) {
  const { verdicts } = await shard.admit('a', specs, profile);
  return verdicts.map((verdict) => {
    if (verdict.kind !== 'rejected') return verdict.kind === 'admitted' ? 'ok' : verdict.kind;
    return verdict.retryUs === null ? verdict.reason : `${verdict.reason} ${verdict.retryUs}`;
  });
}

/** Units in the bucket. */
async function level(shard: ScriptShard): Promise<number> {
  return (await shard.inspect('a')).level;
}

describe('a policed job', () => {
  test('conforms while level + cost ≤ burst; r=2/s, C=5: 5 at once, the next when the first unit has leaked', async () => {
    const shard = redis.shard();
    expect(await door(shard, jobs(10))).toEqual([...Array(5).fill('ok'), ...Array(5).fill('rate_limited 500000')]);
    shard.nowUs += 499_999;
    expect(await door(shard, jobs(1, {}, 'k'))).toEqual(['rate_limited 1']);
    shard.nowUs += 1;
    expect(await door(shard, jobs(2, {}, 'k'))).toEqual(['ok', 'rate_limited 500000']);
  });

  test('of r=2/s and C=5 that is empty at 0, 5 of 10 pass at 3 s, not 6', async () => {
    const shard = redis.shard();
    await door(shard, jobs(5));
    shard.nowUs += 3 * SECOND;
    expect((await door(shard, jobs(10, {}, 'k'))).filter((said) => said === 'ok')).toHaveLength(5);
  });

  test.each([1, 2, 3, 7, 19, 20, 1000])(
    'of a burst of %i, exactly as many pass at once, at an odd rate',
    async (burst) => {
      const said = await door(redis.shard(), jobs(burst + 1), { ...POLICED, ratePerSecond: 7.3, burst, depth: 1e6 });
      expect(said.filter((each) => each === 'ok')).toHaveLength(burst);
    },
  );

  test('is ready at once, whatever the level, and starts as fast as there are slots', async () => {
    const shard = redis.shard();
    await door(shard, jobs(5));
    for (let i = 0; i < 5; i += 1) expect(await shard.take(`t${i}`)).toBe(`a j00${i}`);
    expect(await level(shard)).toBe(5);
    shard.nowUs += SECOND;
    expect(await level(shard)).toBe(3);
  });

  test('waits only for a slot: it is promised now, with basis rate while there is one', async () => {
    const shard = redis.shard();
    const { verdicts } = await shard.admit('a', jobs(3), { ...POLICED, concurrency: 2 });
    expect(verdicts).toMatchObject([
      { position: 1, waitUs: 0, basis: 'rate' },
      { position: 2, waitUs: 0, basis: 'rate' },
      { position: 3, waitUs: 0, basis: 'capacity' },
    ]);
    expect(await shard.read('a', 'j001')).toMatchObject({ position: 2, waitUs: 0, basis: 'rate' });
    expect(await shard.read('a', 'j002')).toMatchObject({ position: 3, waitUs: 0, basis: 'capacity' });
  });

  test("starts by the type's rate all the same, and is promised that", async () => {
    const shard = redis.shard();
    await shard.configure({ emissionUs: SECOND });
    const { verdicts } = await shard.admit('a', jobs(3, { cost: 1.5 }), POLICED);
    expect(verdicts).toMatchObject([
      { waitUs: 0, basis: 'rate' },
      { waitUs: 1_500_000, basis: 'capacity' },
      { waitUs: 3_000_000, basis: 'capacity' },
    ]);
    expect(await shard.read('a', 'j002')).toMatchObject({ waitUs: 3_000_000, basis: 'capacity' });
    expect(await shard.take('t0')).toBe('a j000');
    expect(await shard.take('t1')).toBe('nothing for 1500000 µs');
  });

  test('is charged at the door when it is delayed, and starts at its instant without another look at the rate', async () => {
    const shard = redis.shard();
    expect(await door(shard, [...jobs(2, { delayMs: 500 }), ...jobs(4, {}, 'k')])).toEqual([
      ...Array(5).fill('ok'),
      'rate_limited 500000',
    ]);
    for (const token of ['t0', 't1', 't2']) await shard.take(token);
    shard.nowUs += SECOND / 2;
    expect(await door(shard, jobs(1, {}, 'l'))).toEqual(['ok']);
    expect(await shard.take('t3')).toBe('a j000');
    expect(await shard.take('t4')).toBe('a j001');
  });

  test('is held against the jobRate too, of which the burst may pass at once', async () => {
    const shard = redis.shard();
    const profile = { ...POLICED, ratePerSecond: 1000, burst: 3, jobRatePerSecond: 1 };
    expect(await door(shard, jobs(4, { cost: 0.5 }), profile)).toEqual(['ok', 'ok', 'ok', 'rate_limited 1000000']);
  });

  test('needs no rate where that is unlimited, however much it costs', async () => {
    const unlimited = { ...POLICED, ratePerSecond: Infinity };
    expect(await door(redis.shard(), jobs(3, { cost: 10_000 }), unlimited)).toEqual(['ok', 'ok', 'ok']);
  });
});

describe('a refusal of a policed bucket', () => {
  test('of a cost above the burst is final, names the greatest cost, and says nothing of the jobs behind', async () => {
    const shard = redis.shard();
    const { verdicts } = await shard.admit(
      'a',
      [
        { id: 'large', cost: 5.5 },
        { id: 'j1', cost: 5 },
      ],
      POLICED,
    );
    expect(verdicts[0]).toEqual({ kind: 'rejected', reason: 'cost_exceeds_max', limit: '5', retryUs: null, waitUs: 0 });
    expect(verdicts[1]).toMatchObject({ kind: 'admitted' });
    expect(await door(shard, [{ id: 'larger', cost: 6 }])).toEqual(['cost_exceeds_max']);
  });

  test('closes the door for those behind it: a prefix passes', async () => {
    const costs = [3, 3, 1];
    const said = await door(
      redis.shard(),
      costs.map((cost, i) => ({ id: `j${i}`, cost })),
    );
    expect(said).toEqual(['ok', 'rate_limited 500000', 'rate_limited 500000']);
  });

  test('knows of no time while the rate is 0', async () => {
    expect(await door(redis.shard(), jobs(1), { ...POLICED, ratePerSecond: 0 })).toEqual(['rate_limited']);
    expect(await door(redis.shard(), jobs(1), { ...POLICED, jobRatePerSecond: 0 })).toEqual(['rate_limited']);
  });

  test('by the rate goes before one by depth', async () => {
    const shard = redis.shard();
    const profile = { ...POLICED, depth: 5 };
    expect((await door(shard, jobs(6), profile))[5]).toBe('rate_limited 500000');
    shard.nowUs += SECOND;
    // A place is free as soon as a slot is: the next to leave waits for no rate.
    expect(await door(shard, jobs(1, {}, 'k'), profile)).toEqual(['bucket_full 0']);
  });

  test.each<[title: string, specs: JobSpec[], profile: Partial<Profile>]>([
    ['the rate', jobs(1, { cost: 5 }, 'k'), {}],
    ['the burst', jobs(1, { cost: 50 }, 'k'), {}],
    ['the depth', jobs(1, {}, 'k'), { depth: 2 }],
    ['the bytes', jobs(1, { data: 'x'.repeat(100) }, 'k'), { maxBytes: 50 }],
    ['its start-by', [{ id: 'k', startByMs: 1 }], {}],
    ['being there already', [{ id: 'j000' }], {}],
  ])('by %s charges nothing and leaves nothing behind', async (_, specs, profile) => {
    const shard = redis.shard();
    const all = { ...POLICED, ...profile };
    await door(shard, jobs(2), all);
    const before = [await shard.inspect('a'), await shard.keys()];
    expect(await door(shard, specs, all)).not.toContain('ok');
    expect([await shard.inspect('a'), await shard.keys()]).toEqual(before);
  });
});

describe('what was paid for', () => {
  test('is not paid again by a retry, by being handed back, nor by a stall', async () => {
    const shard = redis.shard();
    await door(shard, jobs(5));
    const run = { tenant: 'a', id: 'j000' };
    await shard.take('t0');
    await shard.settle({ ...run, token: 't0' }, { ...again, front: true });
    expect(await shard.take('t1')).toBe('a j000');
    await shard.settle({ ...run, token: 't1' }, { kind: 'return', value: 'again' });
    expect(await shard.take('t2')).toBe('a j000');
    await shard.dropLock('a', 'j000');
    await shard.recover(9);
    expect(await shard.take('t3')).toBe('a j000');
    await shard.settle({ ...run, token: 't3' }, { ...again, delayMs: 100 });
    shard.nowUs += 100_000;
    for (let i = 4; i < 9; i += 1) expect(await shard.take(`t${i}`)).toMatch(/^a j/);
    expect(await level(shard)).toBe(4.8);
  });

  test('is given back by a cancelled job, waiting or delayed', async () => {
    const shard = redis.shard();
    await door(shard, [...jobs(3), ...jobs(2, { delayMs: 60_000 }, 'd')]);
    await shard.cancel('a', 'j001');
    await shard.cancel('a', 'd000');
    expect(await level(shard)).toBe(3);
    expect(await door(shard, jobs(3, {}, 'k'))).toEqual(['ok', 'ok', 'rate_limited 500000']);
  });

  test('is given back by a job that expires', async () => {
    const shard = redis.shard();
    await door(shard, jobs(5, { startByMs: shard.nowMs + 100 }));
    shard.nowUs += 100_000;
    expect(await shard.take('t0')).toBe('nothing for ever µs');
    expect(await level(shard)).toBe(0);
  });

  test('is not given back once it has leaked: the room is there already', async () => {
    const shard = redis.shard();
    await door(shard, jobs(2, { delayMs: 60_000 }));
    shard.nowUs += SECOND;
    await door(shard, jobs(5, {}, 'k'));
    await shard.cancel('a', 'j000');
    expect(await level(shard)).toBe(5);
  });

  test('is given back of the jobRate likewise', async () => {
    const shard = redis.shard();
    const profile = { ...POLICED, ratePerSecond: Infinity, burst: 2, jobRatePerSecond: 1 };
    await door(shard, jobs(2), profile);
    await shard.cancel('a', 'j000');
    expect(await door(shard, jobs(2, {}, 'k'), profile)).toEqual(['ok', 'rate_limited 1000000']);
  });

  test('is paid anew by a job that ended and is made to wait again by hand', async () => {
    const shard = redis.shard();
    const slow = { ...POLICED, ratePerSecond: 0.01 };
    const queue = await shapedQueue(shard, 'a', slow);
    await door(shard, jobs(5), slow);
    for (let i = 0; i < 5; i += 1) {
      await shard.take(`t${i}`);
      await shard.settle({ token: `t${i}`, tenant: 'a', id: `j00${i}` }, { kind: 'failed', value: 'no' });
    }
    await (await queue.getJob('j000'))?.retry();
    expect(await shard.bucketField('a', 'paid')).toBe(0);
    expect(await shard.take('t5')).toMatch(/^nothing for \d+ µs$/);
    shard.nowUs += 200 * SECOND;
    expect(await shard.take('t5')).toBe('a j000');
    expect(await level(shard)).toBe(4);
  });

  test('is counted as such by who promotes, re-orders or removes it by hand', async () => {
    const shard = redis.shard();
    const queue = await shapedQueue(shard, 'a', POLICED);
    await door(shard, [...jobs(2, { cost: 2 }), { id: 'd', delayMs: 60_000 }]);
    await (await queue.getJob('d'))?.promote();
    expect(await shard.bucketField('a', 'paid')).toBe(3);
    await (await queue.getJob('j001'))?.changePriority({ priority: 1 });
    expect(await shard.inspect('a')).toMatchObject({ waiting: 3, waitingCost: 5 });
    await (await queue.getJob('j000'))?.remove();
    expect(await shard.inspect('a')).toMatchObject({ waiting: 2, waitingCost: 3 });
    await queue.drain();
    expect(await shard.bucketField('a', 'paid')).toBe(0);
  });
});

describe('a change of the mode', () => {
  test('from shape to police: what waits unpaid goes on at its rate, and what is paid goes behind it in its order', async () => {
    const shard = redis.shard();
    await door(shard, jobs(3), { ...SHAPED, burst: 1 });
    await shard.take('t0');
    expect(await door(shard, [{ id: 'late' }], { ...POLICED, burst: 1 })).toEqual(['rate_limited 500000']);
    expect(await shard.take('t1')).toBe('nothing for 500000 µs');
    shard.nowUs += SECOND / 2;
    expect(await door(shard, [{ id: 'paid' }], '')).toEqual(['ok']);
    expect(await shard.read('a', 'paid')).toMatchObject({ position: 3, waitUs: SECOND });
    shard.nowUs += SECOND / 2;
    expect(await shard.take('t1')).toBe('a j001');
    expect(await shard.take('t2')).toBe('nothing for 500000 µs');
    shard.nowUs += SECOND / 2;
    expect(await shard.take('t2')).toBe('a j002');
    expect(await shard.take('t3')).toBe('a paid');
  });

  test('from police to shape: what paid starts at once, what comes after waits for the rate that it used', async () => {
    const shard = redis.shard();
    await door(shard, jobs(5));
    expect(await shard.admit('a', [{ id: 'k' }], { ...SHAPED, burst: 1 })).toMatchObject({
      first: { position: 6, waitUs: 2.5 * SECOND },
    });
    for (let i = 0; i < 5; i += 1) expect(await shard.take(`t${i}`)).toBe(`a j00${i}`);
    expect(await shard.take('t5')).toBe('nothing for 2500000 µs');
    shard.nowUs += 2.5 * SECOND;
    expect(await shard.take('t5')).toBe('a k');
  });

  test('an unpaid job that falls due before a paid one, and is more urgent, is held by the rate', async () => {
    const shard = redis.shard();
    await door(shard, [{ id: 'unpaid', priority: 0, delayMs: 100 }], SHAPED);
    await door(shard, jobs(5));
    shard.nowUs += 100_000;
    await shard.retime('a', { ...POLICED, burst: 1 });
    expect(await shard.take('t0')).toBe('nothing for 2400000 µs');
    shard.nowUs += 2_400_000;
    expect(await shard.take('t0')).toBe('a unpaid');
    expect(await shard.take('t1')).toBe('a j000');
  });
});

test('an unpaid job that falls due while its bucket was touched by something else is held by the rate', async () => {
  const shard = redis.shard();
  await door(shard, [{ id: 'first' }, { id: 'later', delayMs: 100 }], { ratePerSecond: 1 });
  await shard.take('t0');
  shard.nowUs += 200_000;
  await shard.pause('a', false);
  expect(await shard.take('t1')).toBe('nothing for 800000 µs');
});

test('a policed bucket whose end moves nothing keeps what it knows of the paid', async () => {
  const shard = redis.shard();
  await door(shard, jobs(5));
  await shard.take('t0');
  await shard.take('t1');
  await shard.settle({ token: 't0', tenant: 'a', id: 'j000' }, completed);
  expect(await shard.bucketField('a', 'paid')).toBe(3);
  expect(await shard.bucketField('a', 'active')).toBe(1);
  expect(await shard.take('t2')).toBe('a j002');
});

const costs = fc.constantFrom(1, 1, 0.25, 2, 3.5);
const visit = fc.record({
  passUs: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 2_000_000 })),
  costs: fc.array(costs, { minLength: 1, maxLength: 4 }),
  obey: fc.boolean(),
});
const policed = fc.record({
  ratePerSecond: fc.constantFrom(1, 7.3, 0.5, 100),
  burst: fc.constantFrom(3.5, 5, 12),
  jobRatePerSecond: fc.constantFrom(Infinity, Infinity, 2),
  mode: fc.constant('police' as const),
});

test('laws: never above burst + rate·t in any window; who obeys the refusal passes; a refusal changes nothing', async () => {
  await fc.assert(
    fc.asyncProperty(policed, fc.array(visit, { minLength: 1, maxLength: 25 }), async (profile, visits) => {
      const shard = redis.shard();
      const passed: { atUs: number; cost: number }[] = [];
      let ids = 0;
      const come = async (each: readonly number[]) => {
        const specs = each.map((cost, i) => ({ id: `j${ids + i}`, cost }));
        ids += each.length;
        const before = await shard.bucketField('a', 'tat');
        const { verdicts } = await shard.admit('a', specs, profile);
        const admitted = verdicts.filter(({ kind }) => kind === 'admitted').length;
        expect(verdicts.slice(0, admitted).every(({ kind }) => kind === 'admitted')).toBe(true);
        for (const cost of each.slice(0, admitted)) passed.push({ atUs: shard.nowUs, cost });
        if (admitted === 0 && before > 0) expect(await shard.bucketField('a', 'tat')).toBe(before);
        const refused = verdicts[admitted];
        return refused?.kind === 'rejected'
          ? { retryUs: refused.retryUs ?? NaN, cost: each[admitted] ?? NaN }
          : undefined;
      };
      for (const { passUs, costs: each, obey } of visits) {
        shard.nowUs += passUs;
        const refused = await come(each);
        if (!refused || !obey) continue;
        const early = Math.min(2, refused.retryUs);
        shard.nowUs += refused.retryUs - early;
        expect(await come([refused.cost])).toMatchObject({ retryUs: early });
        shard.nowUs += early;
        expect(await come([refused.cost])).toBeUndefined();
      }
      for (const [first, { atUs }] of passed.entries()) {
        let cost = 0;
        for (const [i, last] of passed.slice(first).entries()) {
          cost += last.cost;
          const seconds = (last.atUs - atUs) / SECOND;
          expect(cost).toBeLessThanOrEqual(profile.burst + profile.ratePerSecond * seconds + 0.001);
          expect(i + 1).toBeLessThanOrEqual(profile.burst + profile.jobRatePerSecond * seconds + 0.001 || Infinity);
        }
      }
    }),
    { numRuns: 40, interruptAfterTimeLimit: 60_000 },
  );
}, 90_000);
