import { describe, expect, test } from 'vitest';
import type { Outcome } from '../../src/shaping/work-source.js';
import { redisForTests } from './redis-for-tests.js';
import type { HeldRun, ScriptShard } from './script-shard.js';
import { wakeUps } from './wake-ups.js';

const redis = redisForTests();
const UNLIMITED = { ratePerSecond: Infinity };
const NOTHING = { kind: 'nothing', waitUs: null };
const completed: Outcome = { kind: 'completed', value: '{"ok":true}' };

/** A shard where token `t1` runs job `j1` of tenant `a`, behind which `j2` and `j3` wait. */
async function running(
  profile = {},
): Promise<{ shard: ScriptShard; run: { token: string; tenant: string; id: string } }> {
  const shard = redis.shard();
  await shard.admit('a', [{ id: 'j1' }, { id: 'j2' }, { id: 'j3' }], { ...UNLIMITED, ...profile });
  await shard.take('t1');
  return { shard, run: { token: 't1', tenant: 'a', id: 'j1' } };
}

describe.each<{ outcome: Outcome; state: string; ending: string | undefined; attempts: string; field: string }>([
  { outcome: completed, state: 'completed', ending: undefined, attempts: '1', field: 'returnvalue' },
  {
    outcome: { kind: 'failed', value: 'bad' },
    state: 'failed',
    ending: undefined,
    attempts: '1',
    field: 'failedReason',
  },
  {
    outcome: { kind: 'cancelled', value: 'stop' },
    state: 'failed',
    ending: 'cancelled',
    attempts: '1',
    field: 'failedReason',
  },
])('a job that $outcome.kind', ({ outcome, state, ending, attempts, field }) => {
  test('ends with its value, frees its slot and keeps its attempts', async () => {
    const { shard, run } = await running();
    expect(await shard.settle(run, outcome)).toEqual({ verdict: 'settled', next: NOTHING });
    const found = await shard.read('a', 'j1');
    expect(found?.state).toBe(state);
    expect(found?.fields.get(field)).toBe(outcome.value);
    expect(found?.fields.get('hg:e')).toBe(ending);
    expect(found?.fields.get('atm')).toBe(attempts);
    expect(found?.fields.get('finishedOn')).toBe(String(Math.floor(shard.nowMs)));
    expect(await shard.typeField('running')).toBe(0);
    expect(await shard.redis.exists(shard.key('running'), `${shard.queueKey('a', 'j1')}:lock`)).toBe(0);
  });

  test('is settled once: the same settle again says the same and changes nothing', async () => {
    const { shard, run } = await running();
    await shard.settle(run, outcome);
    const before = await shard.redis.hgetall(shard.queueKey('a', 'j1'));
    expect((await shard.settle(run, outcome)).verdict).toBe('settled');
    expect(await shard.redis.hgetall(shard.queueKey('a', 'j1'))).toEqual(before);
    expect(await shard.typeField('running')).toBe(0);
  });
});

describe('a job that goes back', () => {
  test.each<{ outcome: Outcome; order: string[]; attempts: string | undefined }>([
    { outcome: { kind: 'return', value: 'shutdown' }, order: ['j1', 'j2', 'j3'], attempts: undefined },
    { outcome: { kind: 'retry', value: 'no', delayMs: 0, front: true }, order: ['j1', 'j2', 'j3'], attempts: '1' },
    { outcome: { kind: 'retry', value: 'no', delayMs: 0, front: false }, order: ['j2', 'j3', 'j1'], attempts: '1' },
    { outcome: { kind: 'retry', value: 'no', delayMs: 50, front: true }, order: ['j2', 'j3'], attempts: '1' },
  ])('$outcome.kind, front $outcome.front, after $outcome.delayMs ms', async ({ outcome, order, attempts }) => {
    const { shard, run } = await running();
    expect((await shard.settle(run, outcome)).verdict).toBe('settled');
    expect(await shard.waiting('a')).toEqual(order);
    const found = await shard.read('a', 'j1');
    expect(found?.fields.get('atm')).toBe(attempts);
    expect(found?.fields.get('failedReason')).toBe(outcome.value);
    expect(await shard.inspect('a')).toMatchObject({ running: 0, waitingCost: order.length, waitingBytes: 6 });
  });

  test('stands at the front of its own priority, not before all', async () => {
    const shard = redis.shard();
    await shard.admit('a', [{ id: 'j1', priority: 4 }], UNLIMITED);
    await shard.take('t1');
    await shard.admit(
      'a',
      [
        { id: 'j2', priority: 4 },
        { id: 'j3', priority: 0 },
        { id: 'j4', priority: 9 },
      ],
      UNLIMITED,
    );
    await shard.settle({ token: 't1', tenant: 'a', id: 'j1' }, { kind: 'return', value: '' });
    expect(await shard.waiting('a')).toEqual(['j3', 'j1', 'j2', 'j4']);
  });

  test('stands before later ones that were given back too', async () => {
    const { shard, run } = await running();
    await shard.take('t2');
    await shard.settle({ token: 't2', tenant: 'a', id: 'j2' }, { kind: 'return', value: '' });
    await shard.settle(run, { kind: 'return', value: '' });
    expect(await shard.waiting('a')).toEqual(['j1', 'j2', 'j3']);
  });

  test('fits however full the bucket is', async () => {
    const { shard, run } = await running();
    await shard.retime('a', { ...UNLIMITED, depth: 1, maxBytes: 1 });
    await shard.settle(run, { kind: 'return', value: '' });
    expect(await shard.inspect('a')).toMatchObject({ waiting: 3, waitingBytes: 6 });
    expect((await shard.admit('a', [{ id: 'j9' }], '')).freePlaces).toBe(0);
  });

  test('uses rate again when it starts again', async () => {
    const { shard, run } = await running({ ratePerSecond: 1 });
    await shard.settle(run, { kind: 'retry', value: '', delayMs: 0, front: true });
    expect(await shard.take('t2')).toBe('nothing for 1000000 µs');
    shard.nowUs += 1_000_000;
    expect(await shard.take('t2')).toBe('a j1');
    expect(await shard.take('t3')).toBe('nothing for 1000000 µs');
  });

  test('waits for its delay, joining the order of those that fall due', async () => {
    const { shard, run } = await running();
    await shard.settle(run, { kind: 'retry', value: '', delayMs: 50, front: false });
    await shard.take('t2');
    await shard.take('t3');
    expect(await shard.take('t4')).toBe('nothing for 50000 µs');
    shard.nowUs += 50_000;
    expect(await shard.take('t4')).toBe('a j1');
  });

  test('waits for its delay and joins the front of its priority, where its type says so, that once', async () => {
    const { shard, run } = await running();
    await shard.settle(run, { kind: 'retry', value: '', delayMs: 50, front: true });
    shard.nowUs += 50_000;
    expect(await shard.take('t2')).toBe('a j1');
    await shard.settle({ ...run, token: 't2' }, { kind: 'retry', value: '', delayMs: 50, front: false });
    shard.nowUs += 50_000;
    await shard.admit('a', [], '');
    expect(await shard.waiting('a')).toEqual(['j2', 'j3', 'j1']);
  });

  test.each<Outcome>([
    { kind: 'return', value: '' },
    { kind: 'retry', value: '', delayMs: 0, front: false },
    { kind: 'retry', value: '', delayMs: 50, front: false },
  ])('unless it was asked to stop: then $kind after $delayMs ms is its end', async (outcome) => {
    const { shard, run } = await running();
    expect(await shard.cancel('a', 'j1')).toBe('cancel_requested');
    expect((await shard.settle(run, outcome)).verdict).toBe('settled');
    expect((await shard.read('a', 'j1'))?.fields.get('hg:e')).toBe('cancelled');
    expect(await shard.waiting('a')).toEqual(['j2', 'j3']);
  });
});

describe('who may settle', () => {
  test('a worker whose job was taken back has lost it, and changes nothing', async () => {
    const { shard, run } = await running();
    await shard.dropLock('a', 'j1');
    await shard.recover(1);
    expect((await shard.settle(run, completed)).verdict).toBe('lost');
    expect(await shard.waiting('a')).toEqual(['j1', 'j2', 'j3']);
    expect(await shard.take('t2')).toBe('a j1');
    expect((await shard.settle(run, completed)).verdict).toBe('lost');
    expect((await shard.read('a', 'j1'))?.state).toBe('active');
  });

  test('a lock that ran out costs nothing while nobody took the job back', async () => {
    const { shard, run } = await running();
    await shard.dropLock('a', 'j1');
    expect((await shard.settle(run, completed)).verdict).toBe('settled');
    expect((await shard.read('a', 'j1'))?.state).toBe('completed');
  });

  test.each([
    { token: 'other', tenant: 'a', id: 'j1' },
    { token: 't1', tenant: 'b', id: 'j1' },
    { token: 't1', tenant: 'a', id: 'j2' },
  ])('nobody with %o', async (run) => {
    const { shard } = await running();
    expect((await shard.settle(run, completed)).verdict).toBe('lost');
    expect(await shard.typeField('running')).toBe(1);
    expect((await shard.read('a', 'j1'))?.state).toBe('active');
  });

  test('a job whose hash went missing is settled, and its slot is free', async () => {
    const { shard, run } = await running();
    await shard.redis.del(shard.queueKey('a', 'j1'));
    expect((await shard.settle(run, completed)).verdict).toBe('settled');
    expect(await shard.typeField('running')).toBe(0);
    expect(await shard.redis.exists(shard.key('running'), shard.queueKey('a', 'j1'))).toBe(0);
  });
});

describe('the next job in the same breath', () => {
  test('is handed out under its own token, and again when the reply was lost', async () => {
    const { shard, run } = await running();
    const first = await shard.settle(run, completed, 't2');
    expect(first.next).toMatchObject({ kind: 'job', tenant: 'a', id: 'j2' });
    const again = await shard.settle(run, completed, 't2');
    expect(again).toMatchObject({ verdict: 'settled', next: { kind: 'job', id: 'j2' } });
    expect(await shard.typeField('running')).toBe(1);
    expect(await shard.waiting('a')).toEqual(['j3']);
  });

  test('is handed out even to a worker that lost its job', async () => {
    const { shard } = await running();
    const { verdict, next } = await shard.settle({ token: 'gone', tenant: 'a', id: 'j0' }, completed, 't2');
    expect(verdict).toBe('lost');
    expect(next).toMatchObject({ kind: 'job', id: 'j2' });
  });

  test('says how long to wait when there is none yet', async () => {
    const { shard, run } = await running({ ratePerSecond: 4 });
    shard.nowUs += 100_000;
    expect((await shard.settle(run, completed, 't2')).next).toEqual({ kind: 'nothing', waitUs: 150_000 });
  });
});

describe('whom a settle wakes', () => {
  test('somebody, when something is ready and this worker takes none', async () => {
    const { shard, run } = await running();
    const ears = await wakeUps(shard);
    await shard.settle(run, completed);
    expect(await ears.heard()).toEqual(['wake']);
    ears.close();
  });

  test('nobody, when it takes the only job that is ready itself', async () => {
    const shard = redis.shard();
    await shard.admit('a', [{ id: 'j1' }, { id: 'j2' }], UNLIMITED);
    await shard.take('t1');
    const ears = await wakeUps(shard);
    await shard.settle({ token: 't1', tenant: 'a', id: 'j1' }, completed, 't2');
    expect(await ears.heard()).toEqual([]);
    ears.close();
  });

  test("those turned away at the type's concurrency, once there is room: they know nothing of what is due", async () => {
    const shard = redis.shard();
    await shard.configure({ concurrency: 2 });
    await shard.admit('x', [{ id: 'x1' }], UNLIMITED);
    await shard.admit('y', [{ id: 'y1' }], UNLIMITED);
    await shard.take('t1');
    await shard.take('t2');
    await shard.admit('z', [{ id: 'z1' }, { id: 'z2' }], { ratePerSecond: 1 });
    expect(await shard.take('sleeper')).toBe('nothing for ever µs');
    expect((await shard.settle({ token: 't1', tenant: 'x', id: 'x1' }, completed, 't3')).next).toMatchObject({
      id: 'z1',
    });
    const ears = await wakeUps(shard);
    await shard.settle({ token: 't2', tenant: 'y', id: 'y1' }, completed, 't4');
    expect(await ears.heard()).toEqual(['wake']);
    expect(await shard.take('sleeper')).toBe('nothing for 1000000 µs');
    await shard.settle({ token: 't3', tenant: 'z', id: 'z1' }, completed, 't5');
    expect(await ears.heard()).toEqual([]);
    ears.close();
  });
});

/** Every way in which a run comes to its end. */
const EXITS: Readonly<Record<string, (shard: ScriptShard, run: HeldRun) => Promise<unknown>>> = {
  done: (shard, run) => shard.settle(run, completed),
  thrown: (shard, run) => shard.settle(run, { kind: 'failed', value: 'x' }),
  'timed out, to be tried again at once': (shard, run) =>
    shard.settle(run, { kind: 'retry', value: 'timed out', delayMs: 0, front: false }),
  'thrown, to be tried again later': (shard, run) =>
    shard.settle(run, { kind: 'retry', value: 'x', delayMs: 1, front: true }),
  cancelled: (shard, run) => shard.settle(run, { kind: 'cancelled', value: 'x' }),
  'handed back': (shard, run) => shard.settle(run, { kind: 'return', value: 'x' }),
  'killed: stalled': async (shard, run) => {
    await shard.dropLock(run.tenant, run.id);
    expect((await shard.recover(1000)).returnedIds).toEqual([run.id]);
  },
  'killed: stalled too often': async (shard, run) => {
    await shard.dropLock(run.tenant, run.id);
    expect((await shard.recover(0)).endedIds).toEqual([run.id]);
  },
  'its lock lost, and settled all the same': async (shard, run) => {
    await shard.dropLock(run.tenant, run.id);
    await shard.recover(1000);
    expect(await shard.settle(run, completed)).toMatchObject({ verdict: 'lost' });
  },
};

test.each([
  ...Object.entries(EXITS).map(([name, exit]) => [name, [exit]] as const),
  ['each way in turn', Object.values(EXITS)] as const,
])('a thousand runs leave no slot taken: %s', async (_name, exits) => {
  const shard = redis.shard();
  const jobs = Array.from({ length: 1000 }, (_, i) => ({ id: `j${String(i).padStart(4, '0')}` }));
  await shard.admit('a', jobs, { ...UNLIMITED, depth: 1000 });
  for (let i = 0; i < 1000; i += 1) {
    shard.nowUs += 5000;
    const token = `t${i}`;
    const found = await shard.dispatch(token);
    if (found.kind === 'nothing') throw new Error(`nothing to run after ${i} runs`);
    await exits[i % exits.length]?.(shard, { token, tenant: 'a', id: found.id });
  }
  expect(await shard.typeField('running')).toBe(0);
  expect(await shard.bucketField('a', 'active')).toBe(0);
  expect(await shard.redis.exists(shard.key('running'), shard.queueKey('a', 'active'))).toBe(0);
});

test('a result that is not kept leaves neither the job nor its idempotency key', async () => {
  const shard = redis.shard();
  shard.keepCount = 0;
  await shard.admit('a', [{ id: 'j1', idempotencyKey: 'k1' }], UNLIMITED);
  await shard.take('t1');
  await shard.settle({ token: 't1', tenant: 'a', id: 'j1' }, completed);
  expect(await shard.redis.exists(shard.queueKey('a', 'j1'), shard.key('idem:a:k1'))).toBe(0);
});

test('at most so many results are kept', async () => {
  const shard = redis.shard();
  shard.keepCount = 2;
  await shard.admit(
    'a',
    Array.from({ length: 4 }, (_, i) => ({ id: `j${i}` })),
    UNLIMITED,
  );
  for (let i = 0; i < 4; i += 1) {
    shard.nowUs += 1000;
    await shard.take(`t${i}`);
    await shard.settle({ token: `t${i}`, tenant: 'a', id: `j${i}` }, completed);
  }
  expect(await shard.redis.zrange(shard.queueKey('a', 'completed'), 0, -1)).toEqual(['j2', 'j3']);
});
