import { setTimeout as sleep } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { HeadgateFolder, type HeadgateProcess } from '../support/headgate-process.js';
import { startRedis, type TestRedis } from '../support/redis-server.js';

const KEY = 'acme-key-0123456789';
const SECOND = { limit: 1, window: '1s' };
const BUCKET = { rate: '1/s', burst: 1 };
/** Of every kind, whole again within a second. */
const POLICIES = {
  bucket: BUCKET,
  log: { algorithm: 'sliding-window-log', ...SECOND },
  counter: { algorithm: 'sliding-window-counter', ...SECOND },
  leased: { algorithm: 'leased', lease: '500ms', ...BUCKET },
  local: { algorithm: 'local', ...BUCKET },
  both: { all: [BUCKET, { algorithm: 'sliding-window-log', per: 'policy', limit: 1000, window: '1s' }] },
};
const NAMES = Object.keys(POLICIES);
const USERS = 10;
/** With ten users there are 51 at most. */
const MANY_KEYS = 20;
/** No window is longer than two seconds, the counter's two among them; a slow machine may look later, never earlier. */
const LONGEST_MS = 10_000;

let redis: TestRedis;
let folder: HeadgateFolder;
let api: HeadgateProcess;
beforeEach(async () => {
  redis = await startRedis({ appendonly: true });
  folder = await HeadgateFolder.create({
    ...{ redis: redis.socketPath, types: {}, tenants: { acme: { key: KEY } } },
    policies: Object.fromEntries(Object.entries(POLICIES).map(([name, each]) => [name, { deadline: '5s', ...each }])),
  });
  api = await folder.start('serve');
});
afterEach(async () => {
  await folder.remove();
  await redis.stop();
});

/** A call, by some user to some policy; calls that nobody answers any more do not count. */
async function call(nth: number): Promise<number | undefined> {
  const policy = NAMES[nth % NAMES.length];
  const body = JSON.stringify({
    policy,
    key: `user-${Math.floor(nth / NAMES.length) % USERS}`,
    cost: nth % 3 === 0 ? 0.3 : 1,
  });
  const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' };
  try {
    return (await fetch(`${api.url}/v1/check`, { method: 'POST', headers, body })).status;
  } catch {
    return undefined;
  }
}

/** Eight callers, each with one call after another, until they are told to stop. */
function rush(): { readonly statuses: readonly (number | undefined)[]; stop(): Promise<void> } {
  let goesOn = true;
  const statuses: (number | undefined)[] = [];
  const callers = Array.from({ length: 8 }, async (_, first) => {
    for (let nth = first; goesOn; nth += 8) {
      const status = await call(nth);
      statuses.push(status);
      if (status === undefined) await sleep(20);
    }
  });
  return {
    statuses,
    async stop() {
      goesOn = false;
      await Promise.all(callers);
    },
  };
}

/** Milliseconds that each key has left, by its name; -1 where it stays for ever. */
async function ends(client: Redis): Promise<Map<string, number>> {
  const left = new Map<string, number>();
  for await (const keys of client.scanStream({ count: 1000 })) {
    for (const key of keys) left.set(key, await client.pttl(key));
  }
  // What has gone meanwhile has had an end.
  return new Map([...left].filter(([, ms]) => ms !== -2));
}

async function everyKeyEnds(client: Redis): Promise<void> {
  const left = [...(await ends(client))];
  expect(left.length).toBeGreaterThan(0);
  expect(left.filter(([, ms]) => ms < 0 || ms > LONGEST_MS)).toEqual([]);
}

async function manyKeys(client: Redis): Promise<void> {
  await expect.poll(() => client.dbsize()).toBeGreaterThan(MANY_KEYS);
}

async function nothingIsLeft(client: Redis): Promise<void> {
  await expect.poll(() => client.dbsize()).toBe(0);
}

describe('every key of a policy has an end', () => {
  it('while calls of all kinds come, and after them; then nothing is left', async () => {
    const client = redis.client();
    const calls = rush();
    await manyKeys(client);
    for (let scans = 0; scans < 10; scans += 1) await everyKeyEnds(client);
    await expect.poll(() => new Set(calls.statuses)).toEqual(new Set([200, 429]));
    await calls.stop();
    await nothingIsLeft(client);
  });

  it('also where the process is killed in the middle', async () => {
    const client = redis.client();
    const calls = rush();
    await manyKeys(client);
    await api.kill();
    await everyKeyEnds(client);
    await calls.stop();
    await nothingIsLeft(client);
  });

  it('also where Redis is killed in the middle, and comes back with what it had', async () => {
    const calls = rush();
    const client = redis.client();
    await manyKeys(client);
    client.disconnect();
    await redis.kill();
    const again = await startRedis({ dir: redis.dir, appendonly: true });
    try {
      await everyKeyEnds(again.client());
      await calls.stop();
      await nothingIsLeft(again.client());
    } finally {
      await again.stop();
    }
  });
});
