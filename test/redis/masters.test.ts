import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { closeConnection, openConnection, untilReady } from '../../src/redis/connection.js';
import { pingServers } from '../../src/redis/masters.js';
import { startRedis, type TestRedis } from '../support/redis-server.js';

const DEADLINE_MS = 1000;
const THERE = { answering: 1, of: 1 };
const AWAY = { answering: 0, of: 1 };

let server: TestRedis;
let redis: ReturnType<typeof openConnection>;
beforeEach(async () => {
  server = await startRedis();
  redis = openConnection({ socketPath: server.socketPath }, { name: 'test', deadlineMs: DEADLINE_MS });
  await untilReady(redis);
});
afterEach(async () => {
  closeConnection(redis);
  await server.stop();
});

const found = () => pingServers(redis, DEADLINE_MS);

describe('a server', () => {
  test('that answers is there', async () => {
    await expect.poll(found).toEqual(THERE);
  });

  test('that has become a replica is not, though it answers, until it is a master again', async () => {
    await server.client().replicaof('127.0.0.1', 1);
    await expect.poll(found).toEqual(AWAY);
    await server.client().replicaof('NO', 'ONE');
    await expect.poll(found).toEqual(THERE);
  });

  test('that stands still is not', async () => {
    process.kill(server.pid, 'SIGSTOP');
    expect(await found()).toEqual(AWAY);
    process.kill(server.pid, 'SIGCONT');
    await expect.poll(found).toEqual(THERE);
  });

  test('that is gone is not', async () => {
    await server.kill();
    await expect.poll(found).toEqual(AWAY);
  });
});
