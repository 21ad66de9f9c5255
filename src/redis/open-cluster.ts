import type { Cluster, Redis } from 'ioredis';
import { keepAsking } from './heartbeat.js';
import { PunctualCluster } from './punctual-cluster.js';
import { type ClusterTarget, clusterAddressOf } from './redis-target.js';

/** What holds for a connection to one server holds for those to the nodes of a cluster. */
export interface ClusterLinkOptions {
  readonly name: string;
  readonly deadlineMs: number;
  readonly heartbeatMs: number;
  readonly disconnectMs: number;
  /** Wait before attempt n to reach any node. */
  readonly retryMs: (attempt: number) => number;
}

/** How often the client looks which master has which slots, besides whenever one answers that it does not. */
const LOOK_AT_SLOTS_MS = 5000;
/** Between two tries of a command that was refused while slots move, or while none are served. It had not begun. */
const REFUSED_MS = 100;

/**
 * A connection to every master of a cluster. A command that a master refuses (MOVED, ASK, TRYAGAIN, CLUSTERDOWN) has not
 * begun: it is sent again, where it belongs, for as long as its deadline allows. One that may have begun is not: where the
 * connection is lost the caller decides.
 */
export function openCluster(target: ClusterTarget, options: ClusterLinkOptions): Cluster {
  const { deadlineMs } = options;
  const { nodes, redisOptions } = clusterAddressOf(target);
  const cluster = new PunctualCluster(
    nodes,
    {
      lazyConnect: true,
      clusterRetryStrategy: options.retryMs,
      slotsRefreshTimeout: deadlineMs,
      slotsRefreshInterval: LOOK_AT_SLOTS_MS,
      retryDelayOnFailover: 0,
      retryDelayOnClusterDown: REFUSED_MS,
      retryDelayOnTryAgain: REFUSED_MS,
      maxRedirections: Math.max(4, Math.floor(deadlineMs / REFUSED_MS) - 2),
      redisOptions: {
        ...redisOptions,
        connectionName: `headgate:${options.name}`,
        connectTimeout: deadlineMs,
        disconnectTimeout: options.disconnectMs,
        disableClientInfo: true,
        autoResendUnfulfilledCommands: false,
        // The backstop of what the client asks a node by itself; commands of ours end before.
        commandTimeout: 2 * deadlineMs,
      },
    },
    deadlineMs,
  );
  cluster.on('+node', (node: Redis) => keepAsking(node, options.heartbeatMs, () => undefined));
  cluster.connect().catch(() => undefined);
  return cluster;
}
