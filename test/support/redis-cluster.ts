import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Redis } from 'ioredis';
import { freePort } from '../system/support/free-port.js';
import type { TestCertificates } from './certificates.js';
import { eventually } from './eventually.js';
import { startRedis, type TestRedis, tlsArguments } from './redis-server.js';

/** A real cluster on loopback. */
export interface TestCluster {
  readonly nodes: ClusterNode[];
  /** The replica of the master in the same place, where there are any. */
  readonly replicas: readonly ClusterNode[];
  readonly addresses: readonly { readonly host: string; readonly port: number }[];
  /** Starts another master that has no slots yet, and tells the others of it. */
  add(): Promise<ClusterNode>;
  /** Starts a node again that was killed, over its data. */
  revive(node: ClusterNode): Promise<TestRedis>;
  stop(): Promise<void>;
}

const SLOTS = 16_384;
/**
 * Starts so many masters and gives them all slots in equal parts; resolves once each of them says that all is well.
 *
 * @param withReplicas Each master has one.
 * @param tls What its nodes speak TLS with, to each other and on the ports of `addresses`.
 */
export async function startCluster(
  masters: number,
  withReplicas = false,
  tls?: TestCertificates,
): Promise<TestCluster> {
  const nodes: ClusterNode[] = [];
  const replicas: ClusterNode[] = [];
  try {
    return await clusterOf(nodes, replicas, { masters, withReplicas, tls });
  } catch (error) {
    for (const node of [...nodes, ...replicas]) await node.stop();
    throw error;
  }
}

async function clusterOf(
  nodes: ClusterNode[],
  replicas: ClusterNode[],
  { masters, withReplicas, tls }: { masters: number; withReplicas: boolean; tls: TestCertificates | undefined },
): Promise<TestCluster> {
  for (let each = 0; each < masters; each += 1) {
    nodes.push(await startNode(tls));
    if (withReplicas) replicas.push(await startNode(tls));
  }
  await joined([...nodes, ...replicas]);
  for (const [place, node] of nodes.entries()) {
    const first = Math.floor((place * SLOTS) / masters);
    const last = Math.floor(((place + 1) * SLOTS) / masters) - 1;
    await withClient(node, (redis) => redis.cluster('ADDSLOTSRANGE', first, last));
  }
  await allWell(nodes);
  for (const [place, replica] of replicas.entries()) await replicate(replica, nodes[place]);
  const revived: TestRedis[] = [];
  const addressOf = ({ port, tlsPort }: ClusterNode) => ({ host: '127.0.0.1', port: tlsPort ?? Number(port) });
  return {
    nodes,
    replicas,
    addresses: [...nodes, ...replicas].map(addressOf),
    async add() {
      const node = await startNode(tls);
      nodes.push(node);
      await joined([...nodes, ...replicas]);
      await allWell(nodes);
      return node;
    },
    async revive(node) {
      const again = await startNode(tls, node);
      revived.push(again);
      return again;
    },
    async stop() {
      for (const node of [...revived, ...nodes, ...replicas]) await node.stop();
    },
  };
}

/** Moves slots from one master to another, while they are used. */
export async function moveSlots(from: { id: string; port: number }, to: { id: string }, slots: number): Promise<void> {
  const where = `127.0.0.1:${from.port}`;
  const args = ['--cluster-from', from.id, '--cluster-to', to.id, '--cluster-slots', String(slots), '--cluster-yes'];
  await promisify(execFile)('redis-cli', ['--cluster', 'reshard', where, ...args]);
}

/**
 * Moves one slot from one master to another, a few keys at a time, as `redis-cli --cluster reshard` does: while it moves, some
 * of its keys are here and some there.
 *
 * @param together Keys that leave by one command.
 */
export async function moveSlot(
  slot: number,
  from: TestRedis,
  to: TestRedis,
  others: readonly TestRedis[],
  together = 5,
): Promise<void> {
  const [fromId, toId] = await Promise.all(
    [from, to].map((node) => withClient(node, (redis) => redis.cluster('MYID'))),
  );
  await withClient(to, (redis) => redis.cluster('SETSLOT', slot, 'IMPORTING', String(fromId)));
  await withClient(from, async (redis) => {
    await redis.cluster('SETSLOT', slot, 'MIGRATING', String(toId));
    for (;;) {
      const keys = await redis.cluster('GETKEYSINSLOT', slot, together);
      if (!Array.isArray(keys) || keys.length === 0) break;
      await redis.call('MIGRATE', '127.0.0.1', Number(to.port), '', 0, 10_000, 'KEYS', ...keys.map(String));
    }
  });
  for (const node of [to, from, ...others]) {
    await withClient(node, (redis) => redis.cluster('SETSLOT', slot, 'NODE', String(toId)));
  }
}

/** Makes a node the replica of another; resolves once it follows it. */
async function replicate(replica: TestRedis, master: TestRedis | undefined): Promise<void> {
  if (master === undefined) throw new Error('there is no master for this replica');
  const id = await withClient(master, (redis) => redis.cluster('MYID'));
  await withClient(replica, async (redis) => {
    await redis.cluster('REPLICATE', String(id));
    await eventually(
      async () => {
        if (!/master_link_status:up/.test(await redis.info('replication'))) throw new Error('it does not follow yet');
      },
      { interval: 100 },
    );
  });
}

/** A node, the port of its bus, and the one on which it speaks TLS. */
type ClusterNode = TestRedis & { readonly bus: number; readonly tlsPort: number | undefined };

async function startNode(tls?: TestCertificates, before?: ClusterNode): Promise<ClusterNode> {
  // The bus is 10,000 ports further on unless told otherwise, which there may not be.
  const bus = before?.bus ?? (await freePort());
  const tlsPort = tls && (before?.tlsPort ?? (await freePort()));
  const secure = tls ? ['--tls-port', String(tlsPort), '--tls-cluster', 'yes', ...tlsArguments(tls)] : [];
  // A node that no other has met knows no address to give to clients.
  const own = [
    '--cluster-enabled',
    'yes',
    '--cluster-announce-ip',
    '127.0.0.1',
    '--cluster-node-timeout',
    '5000',
    '--cluster-port',
    String(bus),
  ];
  const args = [...own, ...secure];
  const place = before === undefined ? {} : { dir: before.dir };
  const node = await startRedis({ ...place, port: before?.port ?? true, appendonly: true, args });
  return { ...node, bus, tlsPort };
}

async function joined(nodes: readonly TestRedis[]): Promise<void> {
  const [first, ...others] = nodes;
  if (first === undefined) return;
  await withClient(first, async (redis) => {
    for (const other of others)
      await redis.call('CLUSTER', 'MEET', '127.0.0.1', Number(other.port), await busOf(other));
  });
  await eventually(
    async () => {
      for (const node of nodes) {
        const known = await withClient(node, (redis) => redis.cluster('NODES'));
        const lines = String(known).trim().split('\n');
        if (lines.length < nodes.length || /handshake/.test(String(known))) throw new Error('not all have met');
      }
    },
    { interval: 100 },
  );
}

async function allWell(nodes: readonly TestRedis[]): Promise<void> {
  await eventually(
    async () => {
      for (const node of nodes) {
        const info = await withClient(node, (redis) => redis.cluster('INFO'));
        if (!String(info).includes('cluster_state:ok')) throw new Error('the cluster is not well');
      }
    },
    { interval: 100 },
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
