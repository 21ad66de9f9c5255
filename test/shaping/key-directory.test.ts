import { beforeEach, describe, expect, test } from 'vitest';
import { RedisUnavailable } from '../../src/redis/outage.js';
import { RemoteKeyDirectory } from '../../src/shaping/key-directory.js';

let now = 0;
let held: Map<string, string>;
let asked: string[];
let used: string[];
let isAway = false;
let tell: (hash: string) => void = () => undefined;
let resubscribe: () => void = () => undefined;
let directory: RemoteKeyDirectory;

beforeEach(() => {
  now = 1000;
  held = new Map([['aa', 'acme']]);
  asked = [];
  used = [];
  isAway = false;
  const keys = {
    find: async (hash: string) => {
      asked.push(hash);
      if (isAway) throw new RedisUnavailable('away');
      return held.get(hash);
    },
    use: async (hash: string) => void used.push(hash),
  };
  const subscriber = {
    subscribe: (_channel: string, listener: (hash: string) => void) => {
      tell = listener;
      return () => undefined;
    },
    onSubscribed: (listener: () => void) => {
      resubscribe = listener;
      return () => true;
    },
  };
  directory = new RemoteKeyDirectory(keys, subscriber, () => now);
});

describe('whose a key is', () => {
  test('is asked once in five seconds, for those who are somebody and for those who are nobody', async () => {
    for (let i = 0; i < 3; i += 1) {
      expect(await directory.find('aa')).toBe('acme');
      expect(await directory.find('zz')).toBeUndefined();
    }
    expect(asked).toEqual(['aa', 'zz']);
    now += 5001;
    await directory.find('aa');
    await directory.find('zz');
    expect(asked).toEqual(['aa', 'zz', 'aa', 'zz']);
  });

  test('is asked once by all who want to know at the same time', async () => {
    expect(await Promise.all([1, 2, 3].map(() => directory.find('aa')))).toEqual(['acme', 'acme', 'acme']);
    expect(asked).toEqual(['aa']);
  });

  test('is asked again at once when some process changed it', async () => {
    await directory.find('aa');
    await directory.find('zz');
    held = new Map([['zz', 'small']]);
    tell('aa');
    tell('zz');
    expect([await directory.find('aa'), await directory.find('zz')]).toEqual([undefined, 'small']);
  });

  test('that was read while it changed is not remembered', async () => {
    const underWay = directory.find('aa');
    held.delete('aa');
    tell('aa');
    await underWay;
    expect(directory.remembers('aa')).toBe(false);
    expect(await directory.find('aa')).toBeUndefined();
  });

  test('is doubted when messages may have been lost', async () => {
    await directory.find('aa');
    held.delete('aa');
    resubscribe();
    expect(await directory.find('aa')).toBeUndefined();
  });

  test('stays as it was while Redis is away, and is not known of others', async () => {
    await directory.find('aa');
    isAway = true;
    now += 3_600_000;
    expect(await directory.find('aa')).toBe('acme');
    await expect(directory.find('bb')).rejects.toThrow(RedisUnavailable);
    isAway = false;
    held.delete('aa');
    expect(await directory.find('aa')).toBeUndefined();
  });
});

test('a use is told at most once a minute', async () => {
  for (let i = 0; i < 13; i += 1) {
    await directory.find('aa');
    now += 5001;
  }
  expect(used).toEqual(['aa', 'aa']);
});

test('any number of wrong keys is forgotten again, and pushes no right one out', async () => {
  await directory.find('aa');
  for (let i = 0; i < 20_000; i += 1) await directory.find(`wrong-${i}`);
  expect(directory.remembers('aa')).toBe(true);
  asked.length = 0;
  await directory.find('wrong-19999');
  await directory.find('wrong-0');
  expect(asked).toEqual(['wrong-0']);
});
