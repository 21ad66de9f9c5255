import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Redis } from 'ioredis';
import { vi } from 'vitest';
import { freePort } from '../system/support/free-port.js';
import { startRedis, type TestRedis } from './redis-server.js';

/** A real cluster of masters on loopback. */
export interface TestCluster {
  readonly nodes: TestRedis[];
  readonly addresses: readonly { readonly host: string; readonly port: number }[];
  /** Starts another master that has no slots yet, and tells the others of it. */
  add(): Promise<TestRedis>;
  stop(): Promise<void>;
}

const SLOTS = 16_384;

/** Starts so many masters and gives them all slots in equal parts; resolves once each of them says that all is well. */
export async function startCluster(masters: number): Promise<TestCluster> {
  const nodes: TestRedis[] = [];
  try {
    return await clusterOf(nodes, masters);
  } catch (error) {
    for (const node of nodes) await node.stop();
    throw error;
  }
}

async function clusterOf(nodes: TestRedis[], masters: number): Promise<TestCluster> {
  for (let each = 0; each < masters; each += 1) nodes.push(await startNode());
  await joined(nodes);
  for (const [place, node] of nodes.entries()) {
    const first = Math.floor((place * SLOTS) / masters);
    const last = Math.floor(((place + 1) * SLOTS) / masters) - 1;
    await withClient(node, (redis) => redis.cluster('ADDSLOTSRANGE', first, last));
  }
  await allWell(nodes);
  const addressOf = ({ port }: TestRedis) => ({ host: '127.0.0.1', port: Number(port) });
  return {
    nodes,
    addresses: nodes.map(addressOf),
    async add() {
      const node = await startNode();
      nodes.push(node);
      await joined(nodes);
      await allWell(nodes);
      return node;
    },
    async stop() {
      for (const node of nodes) await node.stop();
    },
  };
}

/** Moves slots from one master to another, while they are used. */
export async function moveSlots(from: { id: string; port: number }, to: { id: string }, slots: number): Promise<void> {
  const where = `127.0.0.1:${from.port}`;
  const args = ['--cluster-from', from.id, '--cluster-to', to.id, '--cluster-slots', String(slots), '--cluster-yes'];
  await promisify(execFile)('redis-cli', ['--cluster', 'reshard', where, ...args]);
}

async function startNode(): Promise<TestRedis> {
  // The bus is 10,000 ports further on unless told otherwise, which there may not be.
  const bus = ['--cluster-port', String(await freePort())];
  return startRedis({ port: true, args: ['--cluster-enabled', 'yes', '--cluster-node-timeout', '5000', ...bus] });
}

async function joined(nodes: readonly TestRedis[]): Promise<void> {
  const [first, ...others] = nodes;
  if (first === undefined) return;
  await withClient(first, async (redis) => {
    for (const other of others)
      await redis.call('CLUSTER', 'MEET', '127.0.0.1', Number(other.port), await busOf(other));
  });
  await vi.waitFor(
    async () => {
      for (const node of nodes) {
        const known = await withClient(node, (redis) => redis.cluster('NODES'));
        const lines = String(known).trim().split('\n');
        if (lines.length < nodes.length || /handshake/.test(String(known))) throw new Error('not all have met');
      }
    },
    { timeout: 60_000, interval: 100 },
  );
}

async function allWell(nodes: readonly TestRedis[]): Promise<void> {
  await vi.waitFor(
    async () => {
      for (const node of nodes) {
        const info = await withClient(node, (redis) => redis.cluster('INFO'));
        if (!String(info).includes('cluster_state:ok')) throw new Error('the cluster is not well');
      }
    },
    { timeout: 60_000, interval: 100 },
  );
}

async function busOf(node: TestRedis): Promise<number> {
  const found = await withClient(node, (redis) => redis.config('GET', 'cluster-port'));
  return Number(Array.isArray(found) ? found[1] : undefined);
}

/** Asks a node over a connection of its own. */
export async function withClient<Reply>(node: TestRedis, ask: (redis: Redis) => Promise<Reply>): Promise<Reply> {
  const redis = node.client();
  try {
    return await ask(redis);
  } finally {
    redis.disconnect();
  }
}
