import { beforeEach, describe, expect, test } from 'vitest';
import { scripts } from '../../src/policing/lease-scripts.js';
import { runScript } from '../../src/redis/script.js';
import { redisForTests } from '../lua/redis-for-tests.js';

const server = redisForTests();
const KEY = 'hg:l:test:lease';
const BEGIN_US = 59_000_000_000_000;
const SECOND = 1_000_000;

/** 10 units a second, 20 of them at once, for leases of a second. */
const TERMS = { emission: 100_000, burst: 20, lease: SECOND };

interface Request {
  readonly at?: number;
  readonly process?: string;
  readonly weight?: number | string;
  readonly want?: number | string;
  readonly least?: number | string;
  readonly returns?: readonly (number | string)[];
}

/** What the script is asked of one bucket. */
function asked({ weight = 1, want = 1, least = 1, returns = [] }: Request, { emission, burst } = TERMS) {
  return [weight, want, least, emission, burst, returns.length / 2, ...returns];
}

/** Asks for several buckets in one call. */
function leaseAll(requests: readonly (readonly (number | string)[])[], { at = 0, process = 'process1' } = {}) {
  const keys = requests.map((_, i) => (i === 0 ? KEY : `${KEY}${i}`));
  const argv = [BEGIN_US + at * SECOND, process, TERMS.lease, ...requests.flat()];
  return runScript(server.redis, { script: scripts.lease, keys, argv });
}

async function lease(request: Request, terms = TERMS) {
  const [reply] = await leaseAll([asked(request, terms)], request);
  if (reply === undefined || reply instanceof Error) throw reply ?? new Error('no reply');
  return reply;
}

async function giveBack(returns: readonly number[], { at = 0, process = 'process1', stays = 0 } = {}) {
  const argv = [BEGIN_US + at * SECOND, process, stays, TERMS.emission, TERMS.burst, TERMS.lease, ...returns];
  return runScript(server.redis, { script: scripts.returnLease, keys: [KEY], argv });
}

beforeEach(async () => {
  await server.redis.flushall();
});

describe('lease', () => {
  test('gives a process alone all that it wants, down to the last unit', async () => {
    expect(await lease({ want: 15 })).toMatchObject({ kind: 'granted', units: 15, left: 5 });
    expect(await lease({ want: 15 })).toMatchObject({ kind: 'granted', units: 5, left: 0 });
    expect(await lease({ want: 15 })).toEqual({ kind: 'empty', waitUs: 100_000, left: 0 });
    expect(await lease({ at: 0.1, want: 15 })).toMatchObject({ kind: 'granted', units: 1, left: 0 });
  });

  test('tells how long it takes until there is enough, and gives nothing that is not enough', async () => {
    await lease({ want: 18 });
    expect(await lease({ want: 10, least: 5 })).toEqual({ kind: 'empty', waitUs: 300_000, left: 2 });
    expect(await lease({ at: 0.3, want: 10, least: 5 })).toMatchObject({ kind: 'granted', units: 5 });
  });

  test('shares what is free by how much each is asked for', async () => {
    await lease({ process: 'process1', weight: 30, want: 1 });
    expect(await lease({ process: 'process2', weight: 10, want: 20 })).toMatchObject({
      kind: 'granted',
      units: 19 / 4,
    });
  });

  test('counts a process no longer that has not come for the length of a lease', async () => {
    await lease({ process: 'process1', weight: 30, want: 1 });
    expect(await lease({ at: 1, process: 'process2', weight: 10, want: 20 })).toMatchObject({ units: 20 });
  });

  test('gives one whose share is too small its due all the same, each time its share has made up for it', async () => {
    await lease({ process: 'process1', weight: 90, want: 20 });
    const asks = (at: number) => lease({ at, process: 'process2', weight: 10, want: 1 });
    const comes = (at: number) => lease({ at, process: 'process1', weight: 90, want: 0.5, least: 0.1 });
    await comes(0.1);
    expect(await asks(0.11)).toMatchObject({ kind: 'empty' });
    expect(await asks(0.2)).toMatchObject({ kind: 'granted', units: 1 });
    // A tenth of 10 a second is one a second, however much there is meanwhile.
    for (const at of [0.4, 0.6, 0.8]) await comes(at);
    expect(await asks(0.9)).toMatchObject({ kind: 'empty', waitUs: 300_000 });
    await comes(1);
    expect(await asks(1.2)).toMatchObject({ kind: 'granted', units: 1 });
  });

  test('asked for nothing tells what is there, and stores nothing', async () => {
    expect(await lease({ want: 0, least: 5 })).toEqual({ kind: 'granted', units: 0, tatUs: 0, left: 20 });
    expect(await server.redis.exists(KEY)).toBe(0);
    await lease({ want: 18 });
    const before = await server.redis.dumpBuffer(KEY);
    expect(await lease({ want: 0, least: 5 })).toEqual({ kind: 'empty', waitUs: 300_000, left: 2 });
    expect(await server.redis.dumpBuffer(KEY)).toEqual(before);
  });

  test('takes back before it gives', async () => {
    const first = await lease({ want: 20 });
    if (first.kind !== 'granted') throw new Error(first.kind);
    expect(await lease({ want: 6, returns: [7, first.tatUs] })).toMatchObject({ units: 6, left: 1 });
  });

  test('keeps the level when the rate changes, and no more than the bucket holds when the clock steps back', async () => {
    await lease({ want: 10 });
    expect(await lease({ want: 0 }, { ...TERMS, emission: TERMS.emission / 10 })).toMatchObject({ left: 10 });
    expect(await lease({ at: -3600, want: 0, least: 1 })).toEqual({ kind: 'empty', waitUs: 100_000, left: 0 });
  });

  test('leaves a key that lives as long as the bucket is not empty, or somebody holds something', async () => {
    await lease({ want: 1 });
    expect(await server.redis.pttl(KEY)).toBeGreaterThanOrEqual(1000);
    await lease({ want: 19 });
    expect(await server.redis.pttl(KEY)).toBeGreaterThanOrEqual(2000);
  });

  test.each<readonly [string, Request]>([
    ['no weight', { weight: 0 }],
    ['a weight that is no number', { weight: 'nan' }],
    ['less than nothing', { want: -1 }],
    ['no number of units', { want: 'abc' }],
    ['without bound', { want: 'inf' }],
    ['nothing as the least', { least: 0 }],
    ['a process with another name', { process: 'p' }],
    ['half of what it returns', { returns: [1] }],
    ['less than nothing back', { returns: [-1, BEGIN_US] }],
  ])('refuses %s, and stores nothing', async (_title, request) => {
    await expect(lease(request)).rejects.toThrow('lease: an argument is out of range');
    expect(await server.redis.exists(KEY)).toBe(0);
  });

  test('answers for each of many buckets as if it had come alone', async () => {
    const requests: Request[] = [{ want: 15 }, { want: 30, least: 21 }, { want: 0 }, { want: 20 }];
    const together = await leaseAll(requests.map((request) => asked(request)));
    await server.redis.flushall();
    for (const [i, request] of requests.entries()) {
      await server.redis.del(KEY);
      expect(together[i]).toEqual(await lease(request));
    }
  });

  test('takes back of each bucket what came with its own request', async () => {
    const [first, second] = await leaseAll([asked({ want: 20 }), asked({ want: 20 })]);
    if (!first || !second || !('tatUs' in first && 'tatUs' in second)) throw new Error('nothing was granted');
    const returns = [1, first.tatUs, 2, first.tatUs];
    const again = await leaseAll([asked({ want: 20, returns }), asked({ want: 20, returns: [7, second.tatUs] })]);
    expect(again).toMatchObject([{ units: 3 }, { units: 7 }]);
  });

  test('fails for a bucket that is asked for wrongly, or whose key holds something else, and for no other', async () => {
    await server.redis.lpush(`${KEY}2`, 'somebody else’s');
    const replies = await leaseAll([asked({ want: 5 }), asked({ want: -1 }), asked({}), asked({ want: 6 })]);
    expect(replies[0]).toMatchObject({ kind: 'granted', units: 5 });
    expect(replies[1]).toMatchObject({ message: expect.stringContaining('lease: an argument is out of range') });
    expect(replies[2]).toMatchObject({ message: expect.stringContaining('WRONGTYPE') });
    expect(replies[3]).toMatchObject({ kind: 'granted', units: 6 });
    expect(await server.redis.exists(`${KEY}1`)).toBe(0);
  });

  test.each([
    ['one argument too few', [1, 1, 1, TERMS.emission, TERMS.burst]],
    ['one too many', [1, 1, 1, TERMS.emission, TERMS.burst, 0, 1]],
    ['fewer returns than it says', [1, 1, 1, TERMS.emission, TERMS.burst, 1, 1]],
    ['half a return', [1, 1, 1, TERMS.emission, TERMS.burst, 0.5, 1]],
    ['returns without end', [1, 1, 1, TERMS.emission, TERMS.burst, 'inf']],
  ])('refuses all where a request has %s, and stores nothing', async (_title, wrong) => {
    await expect(leaseAll([asked({ want: 5 }), wrong])).rejects.toThrow('lease: an argument is out of range');
    expect(await server.redis.exists(KEY, `${KEY}1`)).toBe(0);
  });
});

describe('return_lease', () => {
  test('gives back what was not used', async () => {
    const granted = await lease({ want: 20 });
    if (granted.kind !== 'granted') throw new Error(granted.kind);
    expect(await giveBack([8, granted.tatUs])).toBe(8);
  });

  test('gives back nothing that has leaked away since', async () => {
    const granted = await lease({ want: 10 });
    if (granted.kind !== 'granted') throw new Error(granted.kind);
    await lease({ at: 5, process: 'process2', want: 20 });
    expect(await giveBack([10, granted.tatUs], { at: 5 })).toBe(0);
  });

  test.each([
    { stays: 1, share: 3, title: 'counts a process that holds others still' },
    { stays: 0, share: 12, title: 'counts a process no longer that holds nothing more' },
  ])('$title', async ({ stays, share }) => {
    const granted = await lease({ want: 10, weight: 30 });
    if (granted.kind !== 'granted') throw new Error(granted.kind);
    await giveBack([2, granted.tatUs], { stays });
    expect(await lease({ process: 'process2', weight: 10, want: 20 })).toMatchObject({ units: share });
  });

  test('leaves no key behind when all is whole', async () => {
    const granted = await lease({ want: 10 });
    if (granted.kind !== 'granted') throw new Error(granted.kind);
    await giveBack([10, granted.tatUs], { at: 2 });
    expect(await server.redis.exists(KEY)).toBe(0);
  });

  test.each([[[0, BEGIN_US]], [[1]], [[Number.NaN, BEGIN_US]]])('refuses %j', async (returns) => {
    await lease({ want: 5 });
    const before = await server.redis.dumpBuffer(KEY);
    await expect(giveBack(returns)).rejects.toThrow('return_lease: an argument is out of range');
    expect(await server.redis.dumpBuffer(KEY)).toEqual(before);
  });
});
