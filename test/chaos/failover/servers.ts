import { setTimeout as pause } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { openConnection, type RedisLink, untilReady } from '../../../src/redis/connection.js';
import { scriptKeys } from '../../../src/redis/keys.js';
import { ONE_SHARD, Shards } from '../../../src/redis/shards.js';
import { eventually } from '../../support/eventually.js';
import type { HeadgateProcess } from '../../support/headgate-process.js';
import { moveSlot, startCluster, withClient } from '../../support/redis-cluster.js';
import { startRedis, type TestRedis } from '../../support/redis-server.js';
import { startSentinel, type TestSentinel } from '../../support/sentinel.js';
import { PACED, TENANTS } from './terms.js';

export type Kind = 'cluster' | 'slots' | 'pause' | 'sentinel';

/** What was done to the servers. Instants by the clock that the caller brought. */
export interface Struck {
  readonly from: number;
  /** When there was a master again. */
  readonly masterAt: number;
  /** Tenants whose jobs of the type `paced` stood where it was done. */
  readonly tenants: readonly string[];
  /** Brings back what was broken, so that there are as many copies as before. */
  mend(): Promise<void>;
}

/** Servers with replicas, to which, or to a worker, something can be done while they are used. */
export interface Servers {
  /** What the configuration says of them. */
  readonly redis: object;
  readonly shards: Shards;
  open(): Promise<RedisLink>;
  strike(now: () => number, worker: HeadgateProcess): Promise<Struck>;
  stop(): Promise<void>;
}

const SHARDS = new Shards(16);
const DEADLINE_MS = 20_000;
/** Slots that are moved, one after the other. */
const MOVES = 6;
const KEYS_TOGETHER = 100;
const PAUSE_MS = 60_000;

export function startServers(kind: Kind): Promise<Servers> {
  return kind === 'sentinel' ? startWithSentinels() : startOnCluster(kind);
}

async function startOnCluster(kind: 'cluster' | 'slots' | 'pause'): Promise<Servers> {
  const cluster = await startCluster(3, true);
  const target = { cluster: cluster.addresses };
  const linked = async () => {
    const link = openConnection(target, { name: 'books', deadlineMs: DEADLINE_MS });
    await untilReady(link);
    return link;
  };
  const homes = async () => {
    const link = await linked();
    try {
      return await Promise.all(
        TENANTS.map(async (tenant) => {
          const [key] = scriptKeys(SHARDS.tagOf(PACED, tenant));
          return {
            tenant,
            slot: Number(await link.cluster('KEYSLOT', key)),
            master: await ownerOf(cluster.nodes, key),
          };
        }),
      );
    } finally {
      link.disconnect();
    }
  };
  const kill = async (now: () => number): Promise<Struck> => {
    const all = await homes();
    const [first] = all;
    const place = cluster.nodes.findIndex(({ pid }) => pid === first?.master?.pid);
    const [master, replica] = [cluster.nodes[place], cluster.replicas[place]];
    if (!master || !replica) throw new Error('there is nobody to be killed');
    const from = now();
    await master.kill();
    await eventually(async () => {
      if (!(await isMaster(replica))) throw new Error('the replica is no master');
    });
    return {
      from,
      masterAt: now(),
      tenants: all.filter((home) => home.master === master).map(({ tenant }) => tenant),
      mend: async () => void (await cluster.revive(master)),
    };
  };
  const move = async (now: () => number): Promise<Struck> => {
    const from = now();
    const moved: string[] = [];
    for (const { tenant, slot, master } of (await homes()).slice(0, MOVES)) {
      if (moved.some((other) => SHARDS.of(other) === SHARDS.of(tenant))) continue;
      const others = cluster.nodes.filter((node) => node !== master);
      const [to] = others;
      if (!master || !to) throw new Error(`nobody has the slot of ${tenant}`);
      await moveSlot(slot, master, to, others.slice(1), KEYS_TOGETHER);
      moved.push(tenant);
    }
    return { from, masterAt: now(), tenants: moved, mend: async () => undefined };
  };
  return {
    redis: { cluster: cluster.addresses.map(({ host, port }) => `${host}:${port}`) },
    shards: SHARDS,
    open: linked,
    strike: { slots: move, cluster: kill, pause: stopWorker }[kind],
    stop: () => cluster.stop(),
  };
}

/** It stands still for a minute, and goes on as if nothing had been. */
async function stopWorker(now: () => number, worker: HeadgateProcess): Promise<Struck> {
  const pids = [worker.pid, ...worker.workerPids];
  const from = now();
  for (const pid of pids) process.kill(pid, 'SIGSTOP');
  await pause(PAUSE_MS);
  for (const pid of pids) process.kill(pid, 'SIGCONT');
  return { from, masterAt: from, tenants: TENANTS, mend: async () => undefined };
}

async function ownerOf<Node extends TestRedis>(nodes: readonly Node[], key: string): Promise<Node | undefined> {
  for (const node of nodes) {
    if (await withClient(node, async (redis) => (await redis.exists(key).catch(() => 0)) === 1)) return node;
  }
  return undefined;
}

async function isMaster(node: TestRedis): Promise<boolean> {
  return withClient(node, async (redis) => String((await redis.role())[0]) === 'master');
}

const MASTER = 'main';
const QUORUM = 2;

async function startWithSentinels(): Promise<Servers> {
  const servers = [await startRedis({ port: true, appendonly: true })];
  const port = Number(servers[0]?.port);
  const args = ['--replicaof', '127.0.0.1', String(port)];
  for (const _ of [1, 2]) servers.push(await startRedis({ port: true, appendonly: true, args }));
  const sentinels: TestSentinel[] = [];
  for (const _ of [1, 2, 3]) {
    sentinels.push(await startSentinel({ name: MASTER, port, quorum: QUORUM, downAfterMs: 2000 }));
  }
  await eventually(async () => {
    for (const sentinel of sentinels) if (!(await knowsAll(sentinel))) throw new Error('not all know each other');
  });
  const nodes = sentinels.map((sentinel) => ({ host: '127.0.0.1', port: sentinel.port }));
  return {
    redis: { sentinel: { name: MASTER, nodes: nodes.map(({ host, port: at }) => `${host}:${at}`) } },
    shards: ONE_SHARD,
    async open() {
      const link = openConnection({ sentinel: { name: MASTER, nodes } }, { name: 'books', deadlineMs: DEADLINE_MS });
      await untilReady(link);
      return link;
    },
    async strike(now) {
      const [master, ...others] = servers;
      const from = now();
      await master?.kill();
      await eventually(async () => {
        const roles = await Promise.all(others.map(isMaster));
        if (!roles.some(Boolean)) throw new Error('nobody is master');
      });
      return { from, masterAt: now(), tenants: TENANTS, mend: async () => undefined };
    },
    async stop() {
      for (const each of [...sentinels, ...servers]) await each.stop();
    },
  };
}

/** A Sentinel that knows neither the others nor the replicas fails nothing over. */
async function knowsAll({ port }: TestSentinel): Promise<boolean> {
  const sentinel = new Redis(port, '127.0.0.1', { maxRetriesPerRequest: 1 });
  const info = await sentinel.info('sentinel').finally(() => sentinel.disconnect());
  return /status=ok,.*slaves=2,sentinels=3/.test(info);
}
