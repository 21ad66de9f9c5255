import type { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { OVERRIDES_CHANNEL, overrideKeys } from '../../src/redis/keys.js';
import { runScript } from '../../src/redis/script.js';
import { scripts } from '../../src/shaping/override-scripts.js';
import { startRedis, type TestRedis } from '../support/redis-server.js';

let server: TestRedis;
let redis: Redis;
beforeAll(async () => {
  server = await startRedis();
  redis = server.client();
});
beforeEach(() => server.flush());
afterAll(() => server.stop());

const SUBJECT = 'tenant:acme';
const [REVISION, SUBJECTS, KEY] = overrideKeys(SUBJECT);

/** Changes fields; `''` clears one. */
async function change(fields: Readonly<Record<string, string>>, replace = false) {
  const argv = [SUBJECT, OVERRIDES_CHANNEL, replace ? '1' : '0', ...Object.entries(fields).flat()];
  const reply = await runScript(redis, { script: scripts.override, keys: overrideKeys(SUBJECT), argv });
  return { ...reply, values: Object.fromEntries(reply.values) };
}

describe('a change', () => {
  test('sets the fields that it names, leaves the others, and is counted', async () => {
    expect(await change({ rate: '2/s', depth: '5' })).toEqual({
      revision: 1,
      changed: true,
      values: { rate: '2/s', depth: '5' },
    });
    expect(await change({ rate: '3/s', weight: '2' })).toEqual({
      revision: 2,
      changed: true,
      values: { rate: '3/s', depth: '5', weight: '2' },
    });
  });

  test('that clears the last field leaves nothing behind but the count', async () => {
    await change({ rate: '2/s' });
    expect(await redis.smembers(SUBJECTS)).toEqual([SUBJECT]);
    expect(await change({ rate: '' })).toEqual({ revision: 2, changed: true, values: {} });
    expect(await redis.keys('*')).toEqual([REVISION]);
  });

  test('that changes nothing is not counted', async () => {
    await change({ rate: '2/s' });
    expect(await change({ rate: '2/s', depth: '' })).toEqual({ revision: 1, changed: false, values: { rate: '2/s' } });
    expect(await change({})).toMatchObject({ revision: 1, changed: false });
  });

  test('that replaces clears what it does not name, but a pause by hand', async () => {
    await change({ rate: '2/s', depth: '5', paused: '1' });
    expect((await change({ depth: '6' }, true)).values).toEqual({ depth: '6', paused: '1' });
    expect((await change({}, true)).values).toEqual({ paused: '1' });
    expect((await change({ paused: '' }, false)).values).toEqual({});
  });

  test('is told to whoever listens, once, with its number', async () => {
    const ears = server.client();
    await ears.ssubscribe(OVERRIDES_CHANNEL);
    const heard: string[] = [];
    ears.on('smessage', (_, message) => heard.push(message));
    await change({ rate: '2/s' });
    await change({ rate: '2/s' });
    await change({ rate: '3/s' });
    await expect.poll(() => heard).toEqual([`1 ${SUBJECT}`, `2 ${SUBJECT}`]);
  });

  test('never expires', async () => {
    await change({ rate: '2/s' });
    expect(await Promise.all([REVISION, SUBJECTS, KEY].map((key) => redis.pttl(key)))).toEqual([-1, -1, -1]);
  });

  test('with a name and no value is refused before anything is written', async () => {
    const argv = [SUBJECT, OVERRIDES_CHANNEL, '1', 'rate', '2/s', 'depth'];
    await change({ weight: '2' });
    const asked = runScript(redis, { script: scripts.override, keys: overrideKeys(SUBJECT), argv });
    await expect(asked).rejects.toThrow('a field has no value');
    expect(await redis.hgetall(KEY)).toEqual({ weight: '2' });
  });
});

test('all keys share a slot of a cluster', () => {
  const slots = [...overrideKeys('tenant:a%7Bb%7D'), OVERRIDES_CHANNEL].map((key) => /\{([^}]*)\}/.exec(key)?.[1]);
  expect(new Set(slots)).toEqual(new Set(['overrides']));
});
