import type { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { closeConnection, openConnection, type RedisLink, untilReady } from '../../src/redis/connection.js';
import { scriptKeys } from '../../src/redis/keys.js';
import { Shards } from '../../src/redis/shards.js';
import { textField } from '../referee/json-field.js';
import type { HeadgateProcess } from '../support/headgate-process.js';
import { moveSlot, startCluster, type TestCluster, withClient } from '../support/redis-cluster.js';
import { type RefereedSystem, refereedSystem } from './support/refereed-system.js';

const LIMITED = 240_000;
const TYPE = 'a';
const TENANTS = Array.from({ length: 8 }, (_, i) => `t${i}`);
/** Who sleeps looks again after five seconds: a start that is later than this was not woken. */
const LATE_MS = 3000;
const shards = new Shards(8);

let cluster: TestCluster;
let running: Running;
let commands: RedisLink;

interface Running {
  readonly system: RefereedSystem;
  readonly api: HeadgateProcess;
}

beforeAll(async () => {
  cluster = await startCluster(3, true);
  running = await startSystem('well:');
  commands = openConnection({ cluster: cluster.addresses }, { name: 'test', deadlineMs: 20_000 });
  await untilReady(commands);
}, LIMITED);
afterAll(async () => {
  if (commands) closeConnection(commands);
  await running?.system.end();
  await cluster?.stop();
});

/** An API and a worker with more slots than are ever needed. */
async function startSystem(keyPrefix: string): Promise<Running> {
  const system = await refereedSystem(
    {
      redis: { cluster: cluster.addresses.map(({ host, port }) => `${host}:${port}`), keyPrefix },
      shards: shards.count,
      types: { [TYPE]: {} },
      tiers: { only: { rate: 'unlimited', depth: 100 } },
      defaultTier: 'only',
    },
    { separateClocks: true, types: [{ type: TYPE, slots: 4, spread: true }], buckets: [], otherwise: { depth: 100 } },
    { arrivalMs: 1500, lateMs: LATE_MS },
  );
  const api = await system.folder.start('serve');
  await system.folder.start('work', ['--concurrency', `${TYPE}=4`]);
  return { system, api };
}

/** A job of each tenant, each after the one before has ended: the worker has just looked, and sleeps. By how much each started late. */
async function lateness({ system, api }: Running): Promise<number[]> {
  const { referee } = system;
  const witness = system.witness(api.url);
  const since = referee.now();
  for (const tenant of TENANTS) {
    await expect.poll(async () => (await witness.enqueue({ type: TYPE, tenant, cost: 1 })).status).toBe(202);
    await witness.followToEnds();
  }
  const trace = await referee.trace();
  const startedAt = new Map(trace.flatMap((event) => (event.kind === 'start' ? [[event.job, event.at]] : [])));
  return trace.flatMap((event) => {
    if (event.kind !== 'admission' || event.status !== 202 || event.sentAt < since) return [];
    return [(startedAt.get(textField(event.body, 'id') ?? '') ?? Infinity) - event.answeredAt];
  });
}

const isLate = (ms: number) => ms > LATE_MS;

async function onMasters(act: (redis: Redis) => Promise<unknown>): Promise<void> {
  for (const node of cluster.nodes) await withClient(node, act);
}

const killSubscribers = (redis: Redis) => redis.client('KILL', 'TYPE', 'pubsub');

describe('on a cluster, a worker that sleeps is woken', () => {
  it('by a job of any shard', async () => {
    expect((await lateness(running)).filter(isLate)).toEqual([]);
    await running.system.referee.expectNoViolations();
  });

  it('when slots have moved', { timeout: LIMITED }, async () => {
    const [from, to, ...others] = cluster.nodes;
    if (!from || !to) throw new Error('there are three masters');
    for (const tag of shards.tags(TYPE)) {
      const [key] = scriptKeys(tag);
      // Who does not have its slot refuses.
      const isThere = await withClient(from, (redis) => redis.exists(key)).then(
        () => true,
        () => false,
      );
      if (isThere) await moveSlot(Number(await commands.cluster('KEYSLOT', key)), from, to, others);
    }
    expect((await lateness(running)).filter(isLate)).toEqual([]);
    await running.system.referee.expectNoViolations();
  });

  it('when the connections over which it listens were killed', { timeout: LIMITED }, async () => {
    await onMasters(killSubscribers);
    expect((await lateness(running)).filter(isLate)).toEqual([]);
    await running.system.referee.expectNoViolations();
  });

  it('and not by chance: one that may not listen finds a job when it looks again', { timeout: LIMITED }, async () => {
    const deaf = await startSystem('deaf:');
    await onMasters((redis) => redis.acl('SETUSER', 'default', '-ssubscribe'));
    await onMasters(killSubscribers);
    const late = (await lateness(deaf)).filter(isLate);
    await onMasters((redis) => redis.acl('SETUSER', 'default', '+ssubscribe'));
    await deaf.system.end();
    expect(late.length).toBeGreaterThan(TENANTS.length / 2);
  });

  it('when a replica has taken the place of a master', { timeout: LIMITED }, async () => {
    const { referee } = running.system;
    const from = referee.now();
    await cluster.nodes[1]?.kill();
    await lateness(running);
    referee.recordOutage({ from, to: referee.now(), note: 'a failover' });
    expect((await lateness(running)).filter(isLate)).toEqual([]);
    await referee.expectNoViolations();
  });
});
