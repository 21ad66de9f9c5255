import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { shardTag } from '../../src/redis/keys.js';
import { eventually } from '../support/eventually.js';
import { startRedis, type TestRedis } from '../support/redis-server.js';
import { EventStream } from './support/event-stream.js';
import { type FollowingApp, followingApp, withFewSeats } from './support/following-app.js';
import { as } from './support/test-app.js';
import { KEYS } from './support/test-config.js';

let server: TestRedis;
let api: FollowingApp;

beforeAll(async () => {
  server = await startRedis();
});
beforeEach(async () => {
  await server.flush();
  const pace = { heartbeatMs: 20, stuckMs: 1000, streams: { perTenant: 1, total: 1 } };
  api = await followingApp({ socketPath: server.socketPath }, withFewSeats(pace));
  await api.work.configure();
});
afterEach(() => api.close());
afterAll(() => server.stop());

async function posted(more: object = {}): Promise<string> {
  const payload = { type: 'chat', data: {}, ...more };
  const response = await api.app.inject(as('acme', { method: 'POST', url: '/v1/jobs', payload }));
  expect(response.statusCode).toBe(202);
  return response.json<{ id: string }>().id;
}

const open = (id: string) => EventStream.open(`${api.url}/v1/jobs/${id}/events`, KEYS.acme);

test('a stream on which nothing happens is not silent: comments keep its connection alive', async () => {
  const id = await posted();
  const held = await api.take();
  const stream = await open(id);
  await eventually(() => expect(stream.comments).toBeGreaterThan(3));
  expect(stream.events).toEqual(['state']);
  await api.settle(held, { kind: 'completed', value: '1' });
  await stream.ended;
  expect(stream.events.at(-1)).toBe('end');
});

test('a client that takes nothing is disconnected, and its seat is free; one that reads gets all of it', async () => {
  const id = await posted();
  const held = await api.take();
  // More than the kernel keeps for somebody who does not read, and more than a run may emit: stored by hand.
  const chunk = JSON.stringify('x'.repeat(100_000));
  const CHUNKS = 300;
  const redis = server.client();
  const output = `${shardTag('chat')}:q:acme:${id}:output`;
  for (let number = 1; number <= CHUNKS; number += 1) await redis.xadd(output, `1-${number}`, 'c', chunk);
  redis.disconnect();

  const stalled = connect({ port: Number(new URL(api.url).port), host: '127.0.0.1' });
  stalled.write(`GET /v1/jobs/${id}/events HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${KEYS.acme}\r\n\r\n`);
  await once(stalled, 'readable');
  // Nobody reads on; the seat is given up all the same, and only once the server has closed the connection.
  const reader = await eventually(async () => {
    const stream = await open(id);
    expect(stream.response.status).toBe(200);
    return stream;
  });
  await api.settle(held, { kind: 'completed', value: '1' });
  await reader.ended;
  expect(reader.data('output')).toHaveLength(CHUNKS);
  expect(reader.events.at(-1)).toBe('end');
  stalled.destroy();
});
