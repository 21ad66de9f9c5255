import { describe, expect, test } from 'vitest';
import { encodeTenant, outboxKey } from '../../src/redis/keys.js';
import { scripts } from '../../src/shaping/scripts.js';
import type { Outcome } from '../../src/shaping/work-source.js';
import { redisForTests } from './redis-for-tests.js';
import type { JobSpec, ScriptShard } from './script-shard.js';
import { wakeUps } from './wake-ups.js';

const redis = redisForTests();
const UNLIMITED = { ratePerSecond: Infinity };
const ALL = 'cfex https://hooks.example/x';
const DONE: Outcome = { kind: 'completed', value: '{"a":1}' };
const retry: Outcome = { kind: 'retry', value: 'again', delayMs: 0, front: false };

/** What stands in the outbox, oldest first. */
async function told(shard: ScriptShard): Promise<Record<string, string>[]> {
  const entries = await shard.redis.xrange(outboxKey(shard.tag), '-', '+');
  return entries.map(([, flat]) =>
    Object.fromEntries(flat.flatMap((name, i) => (i % 2 ? [] : [[name, flat[i + 1] ?? '']]))),
  );
}

const endsIn = async (shard: ScriptShard) => (await told(shard)).map(({ id, ending }) => `${id} ${ending}`);

/** Jobs of tenant a, that of the first in the order taken under token t1. */
async function running(jobs: readonly JobSpec[]): Promise<ScriptShard> {
  const shard = redis.shard();
  await shard.admit('a', jobs, UNLIMITED);
  for (const [i] of jobs.entries()) await shard.take(`t${i + 1}`);
  return shard;
}

const held = (id: string, token = 't1') => ({ token, tenant: 'a', id });

describe('an end goes to the outbox', () => {
  test.each<[string, Outcome, string]>([
    ['completed', DONE, '{"a":1}'],
    ['failed', { kind: 'failed', value: 'no "good"' }, 'no "good"'],
    ['cancelled', { kind: 'cancelled', value: 'cancelled' }, 'cancelled'],
  ])('when a run has %s, once however often that is settled', async (ending, outcome, value) => {
    const shard = await running([{ id: 'j', hook: ALL }]);
    await shard.settle(held('j'), outcome);
    await shard.settle(held('j'), outcome);
    const bytes = String(value.length);
    const entry = { tenant: 'a', id: 'j', ending, at: String(shard.nowMs), hook: ALL, value, bytes };
    expect(await told(shard)).toEqual([entry]);
  });

  test('with results of up to 16 KB; of a larger one with its size', async () => {
    const shard = await running([
      { id: 'fits', hook: ALL },
      { id: 'large', hook: ALL },
    ]);
    const json = (bytes: number): string => JSON.stringify('x'.repeat(bytes - 2));
    await shard.settle(held('fits', 't1'), { kind: 'completed', value: json(16_384) });
    await shard.settle(held('large', 't2'), { kind: 'completed', value: json(16_385) });
    const [fits, large] = await told(shard);
    expect(fits).toMatchObject({ value: json(16_384), bytes: '16384' });
    expect(large).toMatchObject({ value: '', bytes: '16385' });
  });

  test('even where no result is kept', async () => {
    const shard = redis.shard();
    shard.keepCount = 0;
    await shard.admit('a', [{ id: 'j', hook: 'c' }], UNLIMITED);
    await shard.take('t1');
    await shard.settle(held('j'), DONE);
    expect(await shard.read('a', 'j')).toBe(undefined);
    expect(await told(shard)).toMatchObject([{ id: 'j', hook: 'c', value: '{"a":1}' }]);
  });

  test('when a job expires or is cancelled before it started, and workers hear of it', async () => {
    const shard = redis.shard();
    const soon = { startByMs: shard.nowMs + 1500 };
    await shard.admit(
      'a',
      [{ id: 'first' }, { id: 'late', hook: ALL, ...soon }, { id: 'not', hook: ALL, delayMs: 60_000 }],
      {
        ratePerSecond: 1,
      },
    );
    await shard.take('t1');
    const ears = await wakeUps(shard);
    shard.nowUs += 2_000_000;
    await shard.take('t2');
    expect(await ears.heard()).toContain('outbox');
    await shard.cancel('a', 'not');
    expect(await ears.heard()).toContain('outbox');
    ears.close();
    expect(await told(shard)).toMatchObject([
      { id: 'late', ending: 'expired', value: 'expired' },
      { id: 'not', ending: 'cancelled', value: 'cancelled' },
    ]);
  });

  test('when a running job that was asked to stop does not wait again', async () => {
    const shard = await running([{ id: 'j', hook: ALL }]);
    await shard.cancel('a', 'j');
    expect(await told(shard)).toEqual([]);
    await shard.settle(held('j'), retry);
    expect(await endsIn(shard)).toEqual(['j cancelled']);
  });

  test('when what waits is purged', async () => {
    const shard = redis.shard();
    await shard.admit('a', [{ id: 'j', hook: ALL }, { id: 'k' }, { id: 'd', hook: ALL, delayMs: 1000 }], UNLIMITED);
    await shard.run(scripts.purge, [shard.nowUs, encodeTenant('a'), 100, shard.keepAgeMs, shard.keepCount]);
    expect(await endsIn(shard)).toEqual(['j cancelled', 'd cancelled']);
  });

  test('when a job stalled too often, or was asked to stop and its worker died', async () => {
    const shard = await running([
      { id: 'stalls', hook: ALL },
      { id: 'stops', hook: ALL },
    ]);
    await shard.cancel('a', 'stops');
    for (const id of ['stalls', 'stops']) await shard.dropLock('a', id);
    await shard.recover(0);
    expect((await endsIn(shard)).toSorted()).toEqual(['stalls failed', 'stops cancelled']);
  });

  test('each time that the job ends, where a failed one was retried by hand', async () => {
    const shard = await running([{ id: 'j', hook: ALL }]);
    await shard.settle(held('j'), { kind: 'failed', value: 'no' });
    await shard.retry('a', ['j']);
    await shard.take('t2');
    await shard.settle(held('j', 't2'), { kind: 'failed', value: 'no' });
    expect(await endsIn(shard)).toEqual(['j failed', 'j failed']);
  });
});

describe('nothing goes there', () => {
  test('of a job that nobody wants to be told of, of another ending, or before the end', async () => {
    const shard = await running([
      { id: 'plain' },
      { id: 'other', hook: 'fex https://c.example/' },
      { id: 'j', hook: ALL },
    ]);
    await shard.settle(held('plain', 't1'), DONE);
    await shard.settle(held('other', 't2'), DONE);
    await shard.settle(held('j', 't3'), retry);
    await shard.admit(
      'a',
      [
        { id: 'fails', hook: 'cex' },
        { id: 'waits', hook: 'cfe', delayMs: 60_000 },
      ],
      UNLIMITED,
    );
    await shard.take('t4');
    await shard.settle(held('fails', 't4'), { kind: 'failed', value: 'no' });
    await shard.cancel('a', 'waits');
    expect(await told(shard)).toEqual([]);
    expect(await shard.keys()).not.toContain('outbox');
  });

  test('when a tenant is erased, whether its jobs wait or run', async () => {
    const shard = redis.shard();
    await shard.admit(
      'a',
      [
        { id: 'runs', hook: ALL },
        { id: 'waits', hook: ALL },
      ],
      UNLIMITED,
    );
    await shard.take('t1');
    await shard.run(scripts.erase, [shard.nowUs, encodeTenant('a'), 100]);
    await shard.settle(held('runs'), DONE);
    expect(await told(shard)).toEqual([]);
  });

  test('when a run is lost: whoever holds the job now tells its end', async () => {
    const shard = await running([{ id: 'j', hook: ALL }]);
    await shard.dropLock('a', 'j');
    await shard.recover(1);
    await shard.take('t2');
    expect(await shard.settle(held('j'), DONE)).toMatchObject({ verdict: 'lost' });
    expect(await told(shard)).toEqual([]);
    await shard.settle(held('j', 't2'), DONE);
    expect(await endsIn(shard)).toEqual(['j completed']);
  });
});
