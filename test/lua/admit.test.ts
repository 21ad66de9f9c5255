import { describe, expect, test } from 'vitest';
import { redisForTests } from './redis-for-tests.js';
import { EPOCH_MS, type JobSpec } from './script-shard.js';

const redis = redisForTests();
const UNLIMITED = { ratePerSecond: Infinity };
const completed = { kind: 'completed', value: '1' } as const;

const jobs = (n: number, spec: Partial<JobSpec> = {}): JobSpec[] =>
  Array.from({ length: n }, (_, i) => ({ id: `j${String(i).padStart(3, '0')}`, ...spec }));

describe('what the door promises', () => {
  test.each([
    { title: 'evenly spaced at 4 a second', profile: { ratePerSecond: 4 }, spec: {}, waits: [0, 250, 500, 750] },
    { title: 'the burst first', profile: { ratePerSecond: 4, burst: 3 }, spec: {}, waits: [0, 0, 0, 250] },
    { title: 'by cost', profile: { ratePerSecond: 4 }, spec: { cost: 2 }, waits: [0, 500, 1000, 1500] },
    {
      title: 'by the jobRate where it is the slower',
      profile: { ratePerSecond: 4, jobRatePerSecond: 2 },
      spec: {},
      waits: [0, 500, 1000, 1500],
    },
    {
      title: 'by the jobRate alone',
      profile: { ...UNLIMITED, jobRatePerSecond: 2 },
      spec: {},
      waits: [0, 500, 1000, 1500],
    },
  ])('$title', async ({ profile, spec, waits }) => {
    const { verdicts } = await redis.shard().admit('a', jobs(4, spec), profile);
    expect(verdicts).toEqual(
      waits.map((ms, i) => ({
        kind: 'admitted',
        id: `j00${i}`,
        state: 'waiting',
        position: i + 1,
        waitUs: ms * 1000,
        basis: 'rate',
        between: null,
      })),
    );
  });

  test('a job of a higher priority goes ahead of what waits', async () => {
    const shard = redis.shard();
    await shard.admit('a', jobs(3, { cost: 2 }), { ratePerSecond: 1 });
    const { first } = await shard.admit('a', [{ id: 'x', priority: 0 }], '');
    expect(first).toMatchObject({ position: 1, waitUs: 0 });
    expect((await shard.admit('a', [{ id: 'y', priority: 9 }], '')).first).toMatchObject({
      position: 5,
      waitUs: 7_000_000,
    });
  });

  test.each([
    { basis: 'rate', title: 'the rate alone decides', capacity: {}, profile: { ratePerSecond: 5 } },
    { basis: 'capacity', title: 'there is no rate', capacity: {}, profile: UNLIMITED },
    {
      basis: 'capacity',
      title: "the type's rate is slower",
      capacity: { emissionUs: 1e6 },
      profile: { ratePerSecond: 5 },
    },
    { basis: 'capacity', title: 'it is paused', capacity: {}, profile: { ratePerSecond: 0 } },
    {
      basis: 'capacity',
      title: 'the type is paused',
      capacity: { emissionUs: Infinity },
      profile: { ratePerSecond: 5 },
    },
  ])('rests on $basis when $title', async ({ basis, capacity, profile }) => {
    const shard = redis.shard();
    await shard.configure(capacity);
    const { verdicts } = await shard.admit('a', jobs(2), profile);
    expect(verdicts[1]).toMatchObject({ basis });
  });

  test("counts in the type's rate", async () => {
    const shard = redis.shard();
    await shard.configure({ emissionUs: 1_000_000 });
    const { verdicts } = await shard.admit('a', jobs(3), { ratePerSecond: 5 });
    expect(verdicts.map((verdict) => verdict.kind === 'admitted' && verdict.waitUs)).toEqual([0, 1_000_000, 2_000_000]);
  });

  test('rests on capacity while others have been ready for a while, and on the rate again once they were cancelled', async () => {
    const shard = redis.shard();
    await shard.admit('a', [{ id: 'a1' }]);
    shard.nowUs += 1_000_000;
    expect((await shard.admit('b', [{ id: 'b1' }])).first).toMatchObject({ basis: 'capacity' });
    await shard.cancel('a', 'a1');
    await shard.cancel('b', 'b1');
    shard.nowUs += 1_000_000;
    expect((await shard.admit('c', [{ id: 'c1' }])).first).toMatchObject({ basis: 'rate' });
  });

  test('of a delayed job: its delay at least, counted from a whole millisecond', async () => {
    const shard = redis.shard();
    shard.nowUs += 1;
    const { first } = await shard.admit('a', [{ id: 'd', delayMs: 5 }], UNLIMITED);
    expect(first).toEqual({
      kind: 'admitted',
      id: 'd',
      state: 'delayed',
      position: 0,
      waitUs: 5999,
      basis: 'delay',
      between: null,
    });
    expect((await shard.read('a', 'd'))?.waitUs).toBe(5999);
  });

  test('a wait beyond what dates can say is a long one, not a negative one', async () => {
    const shard = redis.shard();
    await shard.admit('a', jobs(150, { cost: 10_000 }), { ratePerSecond: 1e-4 });
    const { first } = await shard.admit('a', [{ id: 'x' }], '');
    expect(first).toMatchObject({ kind: 'admitted', waitUs: 9e15 });
    expect((await shard.read('a', 'x'))?.waitUs).toBe(9e15);
    expect((await shard.inspect('a')).nextStartUs).toBe(0);
  });
});

describe('depth and bytes', () => {
  test('a batch is let in as far as the depth goes, delayed jobs included', async () => {
    const shard = redis.shard();
    const batch = jobs(6).map((job, i) => ({ ...job, delayMs: i % 2 === 0 ? 0 : 50 }));
    const { depth, freePlaces, verdicts } = await shard.admit('a', batch, { ratePerSecond: 1, depth: 4 });
    expect(verdicts.map(({ kind }) => kind)).toEqual([...Array(4).fill('admitted'), 'rejected', 'rejected']);
    expect(verdicts[5]).toEqual({ kind: 'rejected', reason: 'bucket_full', limit: 'depth', retryUs: 0, waitUs: 0 });
    expect({ depth, freePlaces }).toEqual({ depth: 4, freePlaces: 0 });
  });

  test('bytes are counted as they are, not as characters', async () => {
    const shard = redis.shard();
    const batch = jobs(4, { data: '"é"' });
    const { verdicts } = await shard.admit('a', batch, { ratePerSecond: 1, maxBytes: 11 });
    expect(verdicts.map(({ kind }) => kind)).toEqual(['admitted', 'admitted', 'rejected', 'rejected']);
    expect(verdicts[2]).toMatchObject({ reason: 'bucket_full', limit: 'maxBytes' });
    expect((await shard.inspect('a')).waitingBytes).toBe(8);
  });

  test('fifty callers at once never get more in than there are places', async () => {
    const shard = redis.shard();
    const callers = Array.from({ length: 50 }, (_, i) =>
      shard.admit('a', [{ id: `c${i}-1` }, { id: `c${i}-2`, delayMs: 9 }, { id: `c${i}-3` }], { depth: 70 }),
    );
    const replies = await Promise.all(callers);
    const admitted = replies.flatMap(({ verdicts }) => verdicts).filter(({ kind }) => kind === 'admitted');
    expect(admitted).toHaveLength(70);
    const { waiting, delayed } = await shard.inspect('a');
    expect(waiting + delayed).toBe(70);
  });

  test('a place is free again when a job starts, is cancelled, or expires', async () => {
    const shard = redis.shard();
    const profile = { ratePerSecond: 1, depth: 3 };
    await shard.admit('a', [...jobs(2), { id: 'short', startByMs: shard.nowMs + 2500 }], profile);
    expect((await shard.admit('a', [{ id: 'x' }], profile)).first).toMatchObject({ kind: 'rejected' });
    await shard.take('t1');
    expect((await shard.admit('a', [{ id: 'x' }], profile)).first).toMatchObject({ kind: 'admitted' });
    await shard.cancel('a', 'x');
    expect((await shard.admit('a', [{ id: 'y' }], profile)).first).toMatchObject({ kind: 'admitted' });
    shard.nowUs += 2_500_000;
    expect((await shard.admit('a', [{ id: 'z' }], profile)).first).toMatchObject({ kind: 'admitted' });
    expect((await shard.admit('a', [{ id: 'w' }], profile)).first).toMatchObject({ kind: 'rejected' });
  });

  test('the refusal says exactly when the next place is free', async () => {
    const shard = redis.shard();
    const profile = { ratePerSecond: 2, depth: 2 };
    await shard.admit('a', jobs(2), profile);
    await shard.take('t1');
    await shard.admit('a', [{ id: 'x' }], profile);
    shard.nowUs += 100_000;
    const { first } = await shard.admit('a', [{ id: 'y' }], profile);
    expect(first).toMatchObject({ kind: 'rejected', retryUs: 400_000 });
    shard.nowUs += 400_000;
    await shard.take('t2');
    expect((await shard.admit('a', [{ id: 'y' }], profile)).first).toMatchObject({ kind: 'admitted' });
  });

  test('a delayed head frees its place when it may start, which its rate may put off', async () => {
    const shard = redis.shard();
    const profile = { ratePerSecond: 1, depth: 1 };
    await shard.admit('a', [{ id: 'x', cost: 3 }], profile);
    await shard.take('t1');
    await shard.admit('a', [{ id: 'd', delayMs: 200 }], profile);
    expect((await shard.admit('a', [{ id: 'y' }], profile)).first).toMatchObject({ retryUs: 3_000_000 });
  });

  test.each([
    { title: 'a paused bucket', profile: { ratePerSecond: 0, depth: 1 } },
    { title: 'a bucket without places', profile: { ratePerSecond: 1, depth: 0 } },
  ])('$title never frees one', async ({ profile }) => {
    const { verdicts } = await redis.shard().admit('a', jobs(2), profile);
    expect(verdicts[1]).toMatchObject({ kind: 'rejected', retryUs: null });
  });

  test('what does not fit closes the door for those behind it', async () => {
    const shard = redis.shard();
    const batch = [
      { id: 'j1', data: '"xxxxxxxxxxxxxxxxx"' },
      { id: 'j2', data: '1' },
    ];
    const { verdicts } = await shard.admit('a', batch, { maxBytes: 10 });
    expect(verdicts.map(({ kind }) => kind)).toEqual(['rejected', 'rejected']);
    expect(await shard.waiting('a')).toEqual([]);
  });
});

describe('a door that an earlier call of the same request closed', () => {
  test('lets nothing in, though there is room, and answers what came before as ever', async () => {
    const shard = redis.shard();
    await shard.admit('a', [{ id: 'known' }]);
    const batch = [{ id: 'new' }, { id: 'known' }, { id: 'late', startByMs: shard.nowMs - 1 }];
    const { verdicts, freePlaces } = await shard.admit('a', batch, { depth: 9 }, '1');
    expect(verdicts).toMatchObject([
      { kind: 'rejected', reason: 'door_closed', retryUs: null },
      { kind: 'replayed', id: 'known' },
      { kind: 'rejected', reason: 'deadline_past' },
    ]);
    expect([await shard.waiting('a'), freePlaces]).toEqual([['known'], 8]);
  });
});

describe('maxWait', () => {
  const profile = { ratePerSecond: 1, maxWaitMs: 2000 };

  test('a wait of just that long is admitted, and the next is not', async () => {
    const shard = redis.shard();
    const { verdicts } = await shard.admit('a', jobs(5), profile);
    expect(verdicts.map(({ kind }) => kind)).toEqual([...Array(3).fill('admitted'), 'rejected', 'rejected']);
    expect(verdicts[3]).toEqual({
      kind: 'rejected',
      reason: 'wait_too_long',
      limit: '',
      retryUs: 1_000_000,
      waitUs: 3_000_000,
    });
  });

  test('who obeys the answer is admitted', async () => {
    const shard = redis.shard();
    await shard.admit('a', jobs(3), profile);
    await shard.take('t1');
    shard.nowUs += 250_000;
    const { first } = await shard.admit('a', [{ id: 'x' }], profile);
    shard.nowUs += first?.kind === 'rejected' ? (first.retryUs ?? 0) : 0;
    expect((await shard.admit('a', [{ id: 'x' }], profile)).first).toMatchObject({
      kind: 'admitted',
      waitUs: 2_000_000,
    });
  });

  test('a delay that the caller asks for is not waiting', async () => {
    const shard = redis.shard();
    const { first } = await shard.admit('a', [{ id: 'd', delayMs: 60_000 }], profile);
    expect(first).toMatchObject({ kind: 'admitted', state: 'delayed', waitUs: 60_000_000 });
  });

  test('closes the door, so that what is admitted of a batch is a prefix', async () => {
    const shard = redis.shard();
    await shard.admit('a', jobs(3), profile);
    const { verdicts } = await shard.admit(
      'a',
      [
        { id: 'x', priority: 9 },
        { id: 'y', priority: 0 },
      ],
      profile,
    );
    expect(verdicts.map(({ kind }) => kind)).toEqual(['rejected', 'rejected']);
  });
});

describe('startBy', () => {
  test.each([
    { startsIn: -1, verdict: { kind: 'rejected', reason: 'deadline_past' } },
    { startsIn: 0, verdict: { kind: 'rejected', reason: 'deadline_past' } },
    { startsIn: 1999, verdict: { kind: 'rejected', reason: 'deadline_unreachable', waitUs: 2_000_000 } },
    { startsIn: 2000, verdict: { kind: 'rejected', reason: 'deadline_unreachable', waitUs: 2_000_000 } },
    { startsIn: 2001, verdict: { kind: 'admitted', waitUs: 2_000_000 } },
  ])('$startsIn ms ahead of a start in 2,000 ms', async ({ startsIn, verdict }) => {
    const shard = redis.shard();
    await shard.admit('a', jobs(2), { ratePerSecond: 1 });
    const { first } = await shard.admit('a', [{ id: 'x', startByMs: shard.nowMs + startsIn }], '');
    expect(first).toMatchObject(verdict);
  });

  test('one that cannot be met keeps nobody behind it out, and is told so even when the bucket is full', async () => {
    const shard = redis.shard();
    await shard.admit('a', jobs(2), { ratePerSecond: 1, depth: 3 });
    const late = { id: 'x', startByMs: shard.nowMs + 1 };
    const { verdicts } = await shard.admit('a', [late, { id: 'y' }, { id: 'z' }, late], '');
    expect(verdicts).toMatchObject([
      { reason: 'deadline_unreachable' },
      { kind: 'admitted' },
      { reason: 'bucket_full' },
      { reason: 'deadline_unreachable' },
    ]);
  });

  test('is never refused because of an estimate, only at the rate of the bucket itself', async () => {
    const shard = redis.shard();
    const free = { ratePerSecond: Infinity };
    await shard.admit('b', jobs(100), free);
    for (let i = 0; i < 20; i += 1) {
      shard.nowUs += 1_000_000;
      await shard.take(`t${i}`);
    }
    const startByMs = shard.nowMs + 500;
    await shard.admit(
      'a',
      jobs(50).map((job) => ({ ...job, id: `a${job.id}` })),
      free,
    );
    const { first } = await shard.admit('a', [{ id: 'x', startByMs }], '');
    if (first?.kind !== 'admitted') throw new Error('it was refused');
    expect(first.basis).toBe('capacity');
    expect(first.between?.earliestUs).toBeGreaterThan(500_000);
  });

  test('is kept by the clock of Redis, also after that clock stepped back', async () => {
    const shard = redis.shard();
    await shard.admit('b', [{ id: 'b1' }]);
    shard.nowUs -= 60_000_000;
    await shard.admit('a', [{ id: 'x', startByMs: shard.nowMs + 500 }], { ratePerSecond: 0 });
    shard.nowUs += 499_000;
    await shard.take('t1');
    expect((await shard.read('a', 'x'))?.state).toBe('waiting');
    shard.nowUs += 1000;
    await shard.take('t2');
    expect((await shard.read('a', 'x'))?.state).toBe('failed');
  });
});

test('jobs of one call stand by priority, each behind those of its own, and know their places', async () => {
  const shard = redis.shard();
  await shard.admit('a', [{ id: 'old' }]);
  const priorities = [9, 4, 0, 9, 4];
  const { verdicts } = await shard.admit(
    'a',
    priorities.map((priority, i) => ({ id: `j${i}`, priority })),
    '',
  );
  expect(verdicts).toMatchObject([2, 2, 1, 5, 4].map((position) => ({ position })));
  expect(await shard.waiting('a')).toEqual(['j2', 'old', 'j1', 'j4', 'j0', 'j3']);
});

test('what a request has stored before Redis fails stands in line, and what is asked in the same call is answered', async () => {
  const shard = redis.shard();
  await shard.redis.rpush(shard.key('idem:a:k'), 'not a text');
  const failing = [{ id: 'j1' }, { id: 'j2' }, { id: 'j3', idempotencyKey: 'k', digest: 'd' }, { id: 'j4' }];
  const answers = await shard.admitAll([
    { tenant: 'a', jobs: failing },
    { tenant: 'b', jobs: [{ id: 'x' }] },
  ]);
  expect(answers).toMatchObject([{ kind: 'failed' }, { kind: 'answered', verdicts: [{ position: 1 }] }]);
  expect([await shard.waiting('a'), await shard.waiting('b')]).toEqual([['j1', 'j2'], ['x']]);
  expect((await shard.admit('a', [{ id: 'j5' }])).first).toMatchObject({ position: 3 });
});

describe('the same request again', () => {
  const once = { id: 'j1', idempotencyKey: 'k', digest: 'd1' };
  const again = { id: 'j2', idempotencyKey: 'k', digest: 'd1' };

  test('is answered with the job that exists, even when the bucket is full', async () => {
    const shard = redis.shard();
    await shard.admit('a', [once], { depth: 1 });
    const { verdicts } = await shard.admit('a', [{ id: 'x' }, again, { id: 'j1' }], { depth: 1 });
    expect(verdicts).toMatchObject([
      { reason: 'bucket_full' },
      { kind: 'replayed', id: 'j1' },
      { kind: 'replayed', id: 'j1' },
    ]);
    expect(await shard.waiting('a')).toEqual(['j1']);
  });

  test('is known while the job runs and after it ended', async () => {
    const shard = redis.shard();
    await shard.admit('a', [once]);
    await shard.take('t1');
    expect((await shard.admit('a', [again])).first).toEqual({ kind: 'replayed', id: 'j1' });
    await shard.settle({ token: 't1', tenant: 'a', id: 'j1' }, completed);
    expect((await shard.admit('a', [again])).first).toEqual({ kind: 'replayed', id: 'j1' });
  });

  test('with another payload is refused', async () => {
    const shard = redis.shard();
    await shard.admit('a', [once]);
    const { first } = await shard.admit('a', [{ ...again, digest: 'd2' }]);
    expect(first).toMatchObject({ kind: 'rejected', reason: 'idempotency_mismatch' });
  });

  test('within one batch is one job', async () => {
    const { verdicts } = await redis.shard().admit('a', [once, again, { ...again, digest: 'd2' }]);
    expect(verdicts).toMatchObject([
      { kind: 'admitted' },
      { kind: 'replayed', id: 'j1' },
      { reason: 'idempotency_mismatch' },
    ]);
  });

  test('of another tenant is another job', async () => {
    const shard = redis.shard();
    await shard.admit('a', [once]);
    expect((await shard.admit('b', [again])).first).toMatchObject({ kind: 'admitted', id: 'j2' });
  });

  test('is not remembered when it was refused', async () => {
    const shard = redis.shard();
    await shard.admit('a', [{ id: 'x' }, once], { depth: 1 });
    await shard.take('t1');
    expect((await shard.admit('a', [again], { depth: 1 })).first).toMatchObject({ kind: 'admitted', id: 'j2' });
  });

  test("is a new job once the old one's result is gone", async () => {
    const shard = redis.shard();
    await shard.admit('a', [once]);
    await shard.redis.del(shard.queueKey('a', 'j1'));
    expect((await shard.admit('a', [again])).first).toMatchObject({ kind: 'admitted', id: 'j2' });
    expect((await shard.admit('a', [{ ...once, id: 'j3' }])).first).toEqual({ kind: 'replayed', id: 'j2' });
  });

  test('is known for a day at most', async () => {
    const shard = redis.shard();
    await shard.admit('a', [once]);
    const left = await shard.redis.pttl(shard.key('idem:a:k'));
    expect(left).toBeLessThanOrEqual(86_400_000);
    expect(left).toBeGreaterThan(86_400_000 - 30_000);
  });

  test.each([
    ['when its age comes', { keepAgeMs: 60_000, keepCount: 1000 }],
    ['when none is kept', { keepAgeMs: 60_000, keepCount: 0 }],
  ])('is forgotten together with the result, %s', async (_, keep) => {
    const shard = Object.assign(redis.shard(), keep);
    await shard.admit('a', [once]);
    await shard.take('t1');
    await shard.settle({ token: 't1', tenant: 'a', id: 'j1' }, completed);
    shard.nowUs += 62_000_000;
    await shard.sweep();
    expect(await shard.redis.exists(shard.key('idem:a:k'))).toBe(0);
  });

  test('fifty callers with one key at once make one job', async () => {
    const shard = redis.shard();
    const calls = Array.from({ length: 50 }, (_, i) => shard.admit('a', [{ ...once, id: `c${i}` }]));
    const kinds = (await Promise.all(calls)).map(({ first }) => first?.kind);
    expect(kinds.filter((kind) => kind === 'admitted')).toHaveLength(1);
    expect(kinds.filter((kind) => kind === 'replayed')).toHaveLength(49);
  });
});

describe('the profile', () => {
  test('comes with the call, or is the one that is stored', async () => {
    const shard = redis.shard();
    await shard.admit('a', [], { ratePerSecond: 10, depth: 7 });
    expect(await shard.admit('a', jobs(2), '')).toMatchObject({
      depth: 7,
      freePlaces: 5,
      verdicts: [{}, { waitUs: 100_000 }],
    });
  });

  test('applies to what waits already, at once, and the level stays', async () => {
    const shard = redis.shard();
    await shard.admit('a', jobs(3), { ratePerSecond: 1 });
    await shard.take('t1');
    shard.nowUs += 500_000;
    await shard.admit('a', [], { ratePerSecond: 10 });
    expect((await shard.inspect('a')).level).toBeCloseTo(0.5, 9);
    expect(await shard.take('t2')).toBe('nothing for 50000 µs');
  });
});

test('the answer tells the time by the clock of Redis', async () => {
  const shard = redis.shard();
  const { unixMs } = await shard.admit('a', []);
  expect(unixMs).toBe(EPOCH_MS + Math.floor(shard.nowUs / 1000));
});

test('a tenant that was only refused leaves nothing', async () => {
  const shard = redis.shard();
  await shard.admit('a', jobs(1), { depth: 0 });
  expect(await shard.keys()).toContain('bucket:a');
  shard.nowUs += 61_000_000;
  await shard.sweep();
  expect(await shard.keys()).toEqual(['type']);
});
