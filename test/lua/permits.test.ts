import { beforeEach, describe, expect, test } from 'vitest';
import { permitScripts } from '../../src/shaping/permit-scripts.js';
import { redisForTests } from './redis-for-tests.js';
import type { ScriptShard } from './script-shard.js';

const redis = redisForTests();
const SECOND = 1e6;
/** Permits are for jobs of shards whose clocks nobody compares with this one. */
const UNTIL = 7_000;

let shard: ScriptShard;
beforeEach(() => {
  shard = redis.shard();
});

type Change = readonly [id: string, cost: number | '', ends: 'end' | 'keep'];

const permit = (id: string, cost = 1, changes: readonly Change[] = []) =>
  shard.run(permitScripts.permit, [shard.nowUs, id, 2, UNTIL, cost, ...changes.flat()]);
const change = (...changes: readonly Change[]) =>
  shard.run(permitScripts.permit, [shard.nowUs, '', '', '', '', ...changes.flat()]);
const taken = () => shard.run(permitScripts.taken, [shard.nowUs]);
const adopt = (epoch: number, ...runs: readonly (string | number)[]) =>
  shard.run(permitScripts.adopt, [shard.nowUs, epoch, ...runs]);

async function allot(limits: { perUnitUs?: number; burst?: number; conc?: number; slackUs?: number }, limited = true) {
  const { perUnitUs = 0, burst = 1, conc = 1e15, slackUs = 0 } = limits;
  const argv = [shard.nowUs, perUnitUs, burst, conc, slackUs, limited ? '1' : ''];
  return shard.run(permitScripts.allot, argv);
}

/** With a capacity, and nothing that ran before. */
async function limited(limits: Parameters<typeof allot>[0]): Promise<void> {
  const left = await allot(limits);
  if (left) await adopt(left.uncountedEpoch);
}

/** Messages on the wake-up channel while `act` runs. */
async function wakes(act: () => Promise<unknown>): Promise<number> {
  const monitor = await shard.redis.duplicate().monitor();
  let seen = 0;
  monitor.on('monitor', (_time: unknown, args: readonly string[]) => {
    if (args[0]?.toLowerCase() === 'spublish' && args[1] === shard.key('wake')) seen += 1;
  });
  const marked = new Promise<void>((resolve) => {
    monitor.on('monitor', (_time: unknown, args: readonly string[]) => {
      if (args[1] === `${shard.type}-mark`) resolve();
    });
  });
  await act();
  await shard.redis.get(`${shard.type}-mark`);
  await marked;
  monitor.disconnect();
  return seen;
}

describe('slots', () => {
  beforeEach(() => limited({ conc: 2 }));

  test('are given until none is left, and again when one is given up', async () => {
    expect([await permit('a'), await permit('b')]).toEqual([{ kind: 'granted' }, { kind: 'granted' }]);
    expect(await permit('c')).toEqual({ kind: 'wait', waitUs: null });
    expect(await change(['a', '', 'end'])).toEqual({ kind: 'none' });
    expect(await permit('c')).toEqual({ kind: 'granted' });
    expect(await taken()).toMatchObject({ slots: 2 });
  });

  test('go on to whoever asks in the call that gives one up', async () => {
    await permit('a');
    await permit('b');
    expect(await permit('c', 1, [['b', '', 'end']])).toEqual({ kind: 'granted' });
    expect(await permit('d')).toEqual({ kind: 'wait', waitUs: null });
  });

  test('are not given twice to who asks twice, and what is given up twice, or was never there, counts once', async () => {
    await permit('a');
    await permit('b');
    expect(await permit('a')).toEqual({ kind: 'granted' });
    await change(['a', '', 'end'], ['a', '', 'end'], ['never', '', 'end']);
    expect([(await permit('c')).kind, (await permit('d')).kind]).toEqual(['granted', 'wait']);
  });

  test('that come back are told to who was turned away, unless they are taken at once', async () => {
    await permit('a');
    await permit('b');
    expect(await wakes(() => change(['a', '', 'keep']))).toBe(0);
    await permit('c');
    expect(await wakes(() => permit('d', 1, [['a', '', 'end']]))).toBe(0);
    expect(await wakes(() => change(['b', '', 'end']))).toBe(1);
    expect(await wakes(() => change(['d', '', 'end']))).toBe(0);
  });

  test('are fewer at once when there are to be fewer, and nobody loses one', async () => {
    await permit('a');
    await permit('b');
    await allot({ conc: 1 });
    await change(['a', '', 'end']);
    expect((await permit('c')).kind).toBe('wait');
    await change(['b', '', 'end']);
    expect((await permit('c')).kind).toBe('granted');
  });
});

describe('the rate', () => {
  beforeEach(() => limited({ perUnitUs: SECOND, burst: 3 }));

  test('lets the burst go, and the next whenever its bucket allows, whatever that costs', async () => {
    for (const id of ['a', 'b', 'c']) expect((await permit(id)).kind).toBe('granted');
    expect(await permit('d', 10)).toEqual({ kind: 'wait', waitUs: SECOND });
    shard.nowUs += SECOND;
    expect((await permit('d', 10)).kind).toBe('granted');
    expect(await permit('e')).toEqual({ kind: 'wait', waitUs: 10 * SECOND });
    expect(await taken()).toEqual({ slots: 4, waitUs: 10 * SECOND, level: 12 });
  });

  test.each([
    ['more, later', 2.5, 1.5 * SECOND + SECOND],
    ['less, earlier', 0.25, 0.25 * SECOND],
  ])('a cost that turns out to be %s', async (_, cost, waitUs) => {
    for (const id of ['a', 'b', 'c']) await permit(id);
    await change(['c', cost, 'keep']);
    expect(await permit('d')).toEqual({ kind: 'wait', waitUs });
    // The last word counts, and the same word again changes nothing.
    await change(['c', cost, 'keep']);
    expect(await permit('d')).toEqual({ kind: 'wait', waitUs });
  });

  test('what has leaked does not come back', async () => {
    for (const id of ['a', 'b', 'c']) await permit(id);
    shard.nowUs += 2.5 * SECOND;
    await change(['a', 0, 'end'], ['c', 0, 'end']);
    expect(await taken()).toMatchObject({ level: 0 });
    for (const id of ['d', 'e', 'f']) expect((await permit(id)).kind).toBe('granted');
    expect((await permit('g')).kind).toBe('wait');
  });

  test('a charge that is undone is told to who was turned away', async () => {
    for (const id of ['a', 'b', 'c']) await permit(id);
    await permit('d');
    expect(await wakes(() => change(['b', '', 'end']))).toBe(0);
    expect(await wakes(() => change(['c', 0, 'end']))).toBe(1);
  });

  test('keeps its level when it changes', async () => {
    for (const id of ['a', 'b', 'c']) await permit(id);
    await allot({ perUnitUs: SECOND / 4, burst: 3 });
    expect(await taken()).toMatchObject({ level: 3, waitUs: SECOND / 4 });
  });

  test('of 0 gives none, and keeps the level', async () => {
    await permit('a');
    await allot({ perUnitUs: Number.POSITIVE_INFINITY, burst: 3 });
    expect(await permit('b')).toEqual({ kind: 'wait', waitUs: null });
    expect(await taken()).toMatchObject({ level: 1 });
  });
});

describe('a type that becomes limited', () => {
  test('gives no permit until what runs without one is told', async () => {
    expect(await allot({ conc: 3 })).toEqual({ uncountedEpoch: 1 });
    expect(await permit('a')).toEqual({ kind: 'count', epoch: 1 });
    await adopt(1, 0, 't1', 2, 't2');
    expect([(await permit('a')).kind, (await permit('b')).kind]).toEqual(['granted', 'wait']);
    await change(['t2', '', 'end']);
    expect((await permit('b')).kind).toBe('granted');
  });

  test('a second time takes no old word for it, nor a late one', async () => {
    await limited({ conc: 3 });
    await adopt(1, 0, 'late');
    expect(await taken()).toMatchObject({ slots: 0 });
    await allot({}, false);
    expect((await permit('a')).kind).toBe('granted');
    expect(await allot({ conc: 3 })).toEqual({ uncountedEpoch: 2 });
    await adopt(1, 0, 't1');
    expect(await permit('b')).toEqual({ kind: 'count', epoch: 2 });
  });

  test('once is told nothing more of', async () => {
    await limited({ conc: 3 });
    expect(await allot({ conc: 5 })).toBeNull();
  });
});

test.each([
  ['no cost', '', UNTIL],
  ['a cost that is none', 'nan', UNTIL],
  ['a cost below 0', -1, UNTIL],
  ['no instant', 1, ''],
])('a permit of %s is refused before anything changes', async (_, cost, until) => {
  await limited({ conc: 1 });
  await expect(shard.run(permitScripts.permit, [shard.nowUs, 'a', 0, until, cost])).rejects.toThrow('a permit until');
  expect(await taken()).toMatchObject({ slots: 0 });
});

describe('a shard of a type that is limited', () => {
  const ready = { ratePerSecond: Infinity };
  const VALID_US = 250_000;

  beforeEach(async () => {
    shard.floor = 0;
    await shard.configure({}, 1, 3, '1');
  });

  test('starts nothing without a permit, and says what it lacks', async () => {
    await shard.admit('a', [{ id: 'j1', cost: 4 }], ready);
    expect(await shard.dispatch('t1')).toEqual({
      kind: 'nothing',
      waitUs: 0,
      lacks: { cost: 4, atUs: shard.nowUs, turn: { virtualTime: 0, head: 0, waitUs: 0 } },
    });
    expect(await shard.take('t1')).toBe('nothing for 0 µs');
  });

  test.each([
    ['that costs no more, until its instant', 4, VALID_US, 'job'],
    ['that costs less', 9, 0, 'job'],
    ['that costs more', 3.9, VALID_US, 'nothing'],
    ['after its instant', 4, -1, 'nothing'],
  ])('starts a job with a permit %s', async (_, units, validUs, kind) => {
    await shard.admit('a', [{ id: 'j1', cost: 4 }], ready);
    expect((await shard.dispatch('t1', `p1 ${units} ${shard.nowUs + validUs}`)).kind).toBe(kind);
  });

  test('uses a permit for one job alone, which a repeated dispatch answers without any', async () => {
    await shard.admit('a', [{ id: 'j1' }, { id: 'j2' }], ready);
    const until = shard.nowUs + VALID_US;
    expect(await shard.dispatch('t1', `p1 1 ${until}`)).toMatchObject({ kind: 'job', id: 'j1' });
    expect(await shard.dispatch('t1')).toMatchObject({ kind: 'job', id: 'j1' });
    const next = await shard.settle({ token: 't1', tenant: 'a', id: 'j1' }, { kind: 'completed', value: '1' }, 't2');
    expect(next).toMatchObject({ verdict: 'settled', permit: 'p1', next: { kind: 'nothing', lacks: { cost: 1 } } });
  });

  test('says which permits its runs hold, and which runs have none', async () => {
    await shard.admit('a', [{ id: 'j1' }, { id: 'j2' }], ready);
    await shard.configure({}, 1, 3);
    await shard.dispatch('t1');
    await shard.configure({}, 1, 3, '1');
    await shard.dispatch('t2', `p2 1 ${shard.nowUs}`);
    await shard.charge('t2', 3);
    expect(await shard.run(permitScripts.holders, [shard.nowUs, 'p1', 'p2', 't1', 't2'])).toEqual({
      atUs: shard.nowUs,
      idleIds: ['p1', 't2'],
      tokensWithout: ['t1'],
    });
  });

  test('whose bucket waits for its rate needs none to say so', async () => {
    await shard.admit('a', [{ id: 'j1' }, { id: 'j2' }], { ratePerSecond: 1 });
    await shard.dispatch('t1', `p1 1 ${shard.nowUs}`);
    expect(await shard.take('t2')).toBe('nothing for 1000000 µs');
  });
});
