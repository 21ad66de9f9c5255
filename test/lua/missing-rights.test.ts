import { afterAll, beforeAll, expect, test } from 'vitest';
import { missingRights } from '../../src/redis/missing-rights.js';
import { aclRules } from '../../src/redis/rights.js';
import { startRedis, type TestRedis } from '../support/redis-server.js';

const NONE = { commands: [], keys: [], channels: [] };
let redis: TestRedis;

beforeAll(async () => {
  redis = await startRedis();
  await redis.client().acl('SETUSER', 'app', 'on', '>p', ...aclRules('a:'));
});
afterAll(() => redis?.stop());

const as = (username: string, keyPrefix: string) => redis.client({ username, password: 'p', keyPrefix });

test('tells which rights are missing, and runs nothing', async () => {
  const root = redis.client();
  expect(await missingRights(root, false)).toBeUndefined();
  expect(await missingRights(root, true)).toEqual(NONE);
  expect(await missingRights(as('app', 'a:'), false)).toEqual(NONE);
  await root.acl('SETUSER', 'app', '-zadd', '-client|id', '-spublish');
  expect(await missingRights(as('app', 'a:'), false)).toEqual({ ...NONE, commands: ['client|id', 'spublish', 'zadd'] });
  const patterns = ['hg:*', '{hg:*'];
  expect(await missingRights(as('app', 'b:'), false)).toMatchObject({ keys: patterns, channels: patterns });
  await root.acl('SETUSER', 'app', '-fcall');
  expect(await missingRights(as('app', 'a:'), false)).toEqual({ ...NONE, commands: ['fcall'] });
  expect(await root.dbsize()).toBe(0);
});
