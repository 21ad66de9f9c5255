import type { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { closeConnection, openConnection, type RedisLink, untilReady } from '../../src/redis/connection.js';
import { scriptKeys } from '../../src/redis/keys.js';
import { Shards } from '../../src/redis/shards.js';
import { checkBooks } from '../chaos/book-check.js';
import { Ledger } from '../chaos/ledger.js';
import { Load } from '../chaos/load.js';
import { seeded } from '../chaos/random.js';
import { recovered } from '../chaos/run-chaos.js';
import { CONTRACT, configOf, POLICED, SHAPED, TENANTS, TOLERANCES } from '../chaos/terms.js';
import type { Witness } from '../referee/witness.js';
import type { HeadgateProcess } from '../support/headgate-process.js';
import { moveSlot, startCluster, type TestCluster, withClient } from '../support/redis-cluster.js';
import type { TestRedis } from '../support/redis-server.js';
import { type RefereedSystem, refereedSystem } from './support/refereed-system.js';

const LIMITED = 300_000;
/** What a failover did to locks shows only later. */
const AFTERMATH_MS = 12_000;
/** Starts under load before something happens, and afterwards. */
const ENOUGH = 30;
const WORKERS = 2;
/** Of each worker; more than the tenants of one master can fill, whose runs cannot be settled while it is away. */
const SLOTS = { [SHAPED]: 5, [POLICED]: 4 };
const shards = new Shards(4);

let cluster: TestCluster;
let system: RefereedSystem;
let books: RedisLink;
let load: Load;
let witnesses: Witness[];
const ledger = new Ledger();
const apis: HeadgateProcess[] = [];

beforeAll(async () => {
  cluster = await startCluster(3, true);
  const nodes = cluster.addresses.map(({ host, port }) => `${host}:${port}`);
  const { types, ...rest } = configOf('');
  const uncapped = Object.fromEntries(Object.entries(types).map(([name, type]) => [name, { ...type, capacity: {} }]));
  const config = { ...rest, types: uncapped, shards: shards.count, redis: { cluster: nodes, waitForReplicas: 1 } };
  const contract = {
    ...CONTRACT,
    types: Object.entries(SLOTS).map(([type, slots]) => ({ type, slots: WORKERS * slots, spread: true })),
  };
  system = await refereedSystem(config, contract, TOLERANCES);
  for (const _ of [1, 2]) apis.push(await system.folder.start('serve'));
  const slots = Object.entries(SLOTS)
    .map(([type, count]) => `${type}=${count}`)
    .join();
  for (let each = 0; each < WORKERS; each += 1) await system.folder.start('work', ['--concurrency', slots]);
  books = openConnection({ cluster: cluster.addresses }, { name: 'books', deadlineMs: 20_000 });
  await untilReady(books);
  witnesses = apis.map(({ url }) => system.witness(url));
  load = new Load({ witnesses, ledger, random: seeded(8), now: () => system.referee.now() });
  load.start();
  await starts(0);
}, LIMITED);

afterAll(async () => {
  await load?.stop();
  if (books) closeConnection(books);
  await system?.end();
  await cluster?.stop();
});

const starts = (since: number) =>
  system.referee.until(
    (trace) => trace.filter((event) => event.kind === 'start' && event.at > since).length >= ENOUGH,
    90_000,
  );

/** The slot in which a tenant's bucket stands, and who has it. */
async function homeOf(tenant: string): Promise<{ readonly slot: number; readonly master: TestRedis }> {
  const [key] = scriptKeys(shards.tagOf(SHAPED, tenant));
  const slot = Number(await books.cluster('KEYSLOT', key));
  for (const master of cluster.nodes) if (await withClient(master, (redis) => has(redis, key))) return { slot, master };
  throw new Error(`no master has ${key}`);
}

async function has(redis: Redis, key: string): Promise<boolean> {
  return (await redis.exists(key).catch(() => 0)) === 1;
}

async function isMaster(node: TestRedis | undefined): Promise<boolean> {
  const [role] = (await node?.client().role()) ?? [];
  return String(role) === 'master';
}

describe('on a cluster of three masters and three replicas, under load', () => {
  it('no process has more than four connections to a master', async () => {
    const ours = async (redis: Redis) => String(await redis.client('LIST')).match(/ name=\S*headgate:/g) ?? [];
    for (const node of [...cluster.nodes, ...cluster.replicas]) {
      expect((await withClient(node, ours)).length).toBeLessThanOrEqual(4 * (apis.length + WORKERS));
    }
  });

  it('slots move from master to master, and no job notices', { timeout: LIMITED }, async () => {
    const { referee } = system;
    const from = referee.now();
    for (const tenant of TENANTS.slice(0, 2)) {
      const { slot, master } = await homeOf(tenant);
      const others = cluster.nodes.filter((node) => node !== master);
      const [to] = others;
      if (to) await moveSlot(slot, master, to, others.slice(1));
    }
    referee.recordOutage({ from, to: referee.now() + AFTERMATH_MS, note: 'slots moved' });
    await starts(referee.now());
  });

  it('a master is killed: its replica takes its place, and its tenants go on', { timeout: LIMITED }, async () => {
    const { referee } = system;
    const [tenant] = TENANTS;
    const { master } = await homeOf(tenant);
    const place = cluster.nodes.findIndex(({ pid }) => pid === master.pid);
    const from = referee.now();
    await master.kill();
    await expect.poll(() => isMaster(cluster.replicas[place]), { timeout: 60_000 }).toBe(true);
    const promotedAt = referee.now();
    await referee.until(
      (trace) => trace.some((each) => each.kind === 'start' && each.tenant === tenant && each.at > promotedAt),
      60_000,
    );
    // Without a replica of its own the new master has nobody to be waited for.
    const dead = cluster.nodes[place];
    if (dead) await cluster.revive(dead);
    expect(await recovered({ refereed: system, urls: apis.map(({ url }) => url) }, referee.now())).toBe(true);
    const admitted = async () => (await witnesses[0]?.enqueue({ type: SHAPED, tenant, cost: 1 }))?.status;
    await expect.poll(admitted, { timeout: 60_000 }).not.toBe(503);
    referee.recordOutage({ from, to: referee.now() + AFTERMATH_MS, note: 'a failover' });
    await starts(referee.now());
  });

  it('every job came to one end, no slot is held, and no promise was broken', { timeout: LIMITED }, async () => {
    await load.stop();
    for (const witness of witnesses) await witness.followToEnds(90_000);
    // A job whose request had no answer is followed by nobody, and may still be on its way.
    const atRest = async () => {
      const { running, waiting } = await checkBooks(books, ledger.accepted, shards);
      return [...running, ...waiting];
    };
    await expect.poll(atRest, { timeout: 60_000 }).toEqual([]);
    expect(await checkBooks(books, ledger.accepted, shards)).toEqual({
      lost: [],
      twoEnds: [],
      running: [],
      waiting: [],
      envelope: [],
    });
    const errors = apis.flatMap(({ lines }) => lines.filter((line) => line.includes('"level":50')));
    expect(ledger.faults, errors.join('\n')).toEqual([]);
    expect(ledger.doubled).toEqual([]);
    expect(ledger.accepted.size).toBeGreaterThan(3 * ENOUGH);
    await system.referee.expectNoViolations();
  });
});
