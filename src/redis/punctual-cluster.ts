import { Cluster, type ClusterNode, type ClusterOptions, type Command } from 'ioredis';
import { downText, stateOf } from './cluster-state.js';
import { startDeadline } from './deadline.js';

/** The client asks the cluster about itself before it counts as ready. */
const BEFORE_READY = 'cluster';

/**
 * A connection to a cluster whose every command ends by a deadline, and at once while the cluster is away: nothing is kept
 * for later. To a master that is only just being connected to, it waits.
 */
export class PunctualCluster extends Cluster {
  readonly #deadlineMs: number;

  constructor(nodes: ClusterNode[], options: ClusterOptions, deadlineMs: number) {
    super(nodes, { ...options, enableOfflineQueue: true });
    this.#deadlineMs = deadlineMs;
  }

  override sendCommand(
    command: Command,
    stream?: Parameters<Cluster['sendCommand']>[1],
    node?: Parameters<Cluster['sendCommand']>[2],
  ): unknown {
    if (this.status !== 'ready' && command.name !== BEFORE_READY) {
      command.reject(new Error('Connection is closed.'));
      return command.promise;
    }
    if (command.name === BEFORE_READY) this.#tellIfDown(command);
    const end = startDeadline(this.#deadlineMs, () => command.reject(new Error('Command timed out')));
    command.promise.then(end, end);
    return super.sendCommand(command, stream, node);
  }

  /** The client closes the connection as soon as it has read that, and does not say why. */
  #tellIfDown(command: Command): void {
    const { resolve } = command;
    command.resolve = (info: unknown) => {
      const state = stateOf(String(info));
      if (state !== undefined && state !== 'ok') this.emit('error', new Error(downText(state)));
      resolve(info);
    };
  }
}
