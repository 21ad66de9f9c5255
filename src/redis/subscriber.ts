import { EventEmitter } from 'node:events';
import { Command, type Redis } from 'ioredis';
import { channelOn, type RedisLink, retryMs } from './connection.js';
import { isCluster, ownersOf } from './masters.js';

/** What one server tells of, or was asked to. */
interface Ear {
  readonly channels: Map<string, Command>;
  unanswered: number;
}

/**
 * Messages of any number of channels, by sharded publish: a process has one, however many types and tenants there are. On a
 * cluster a channel lies in a slot, as a key does, and the master that has the slot tells of it: each master that has any is listened
 * to over the one connection that the link has to it. No other command may be sent over the link.
 *
 * It follows connections that are lost, slots that move, and masters that take another's place. Of a slot that has left, Redis says
 * unasked that it tells of it no more, which the client reports as an error. So whatever is wrong with a connection, nothing counts
 * as told over it any more, and all of it is asked for again, of whoever has the slots by then, until somebody agrees. A move
 * that shows in no error shows when the link next looks who has which slots.
 */
export class Subscriber {
  readonly #redis: RedisLink;
  readonly #keyPrefix: string;
  readonly #channels = new EventEmitter().setMaxListeners(0);
  readonly #watchers = new Set<() => void>();
  readonly #ears = new Map<Redis, Ear>();
  #attempt = 0;
  #timer: NodeJS.Timeout | undefined;

  /** The link is nobody else's, and the opener's to close. */
  constructor(redis: RedisLink) {
    this.#redis = redis;
    this.#keyPrefix = channelOn(redis, '');
    redis.on('ready', () => this.#look());
    redis.on('end', () => clearTimeout(this.#timer));
    for (const server of isCluster(redis) ? redis.nodes() : [redis]) this.#attend(server);
    // Of a cluster.
    redis.on('+node', (node: Redis) => this.#attend(node));
    redis.on('refresh', () => this.#look());
  }

  /** Calls `listener` for every message on `channel` from now on; returns how to stop. */
  subscribe(channel: string, listener: (message: string) => void): () => void {
    this.#channels.on(channel, listener);
    this.#look();
    return () => this.#channels.off(channel, listener);
  }

  /**
   * Calls `listener` whenever a server has said that it tells of all its channels, after a reconnect or a move too: what was
   * published before may not have been heard. Returns how to stop.
   */
  onSubscribed(listener: () => void): () => void {
    this.#watchers.add(listener);
    return () => this.#watchers.delete(listener);
  }

  #attend(server: Redis): void {
    const { length } = this.#keyPrefix;
    server.on('smessage', (channel: string, message: string) => this.#channels.emit(channel.slice(length), message));
    // `moved`: it was asked for what it does not have, and the client keeps that answer to itself.
    for (const sign of ['close', 'error', 'moved']) server.on(sign, () => this.#doubt(server, this.#ears.get(server)));
  }

  /** Asks for every channel of whoever has its slot, where that was not done yet. */
  #look(): void {
    if (this.#redis.status !== 'ready') return;
    const ownerOf = ownersOf(this.#redis);
    const owners = new Map(
      this.#channels.eventNames().map((name) => {
        const channel = String(name);
        return [channel, ownerOf(this.#command(channel).getSlot())];
      }),
    );
    for (const [server, ear] of this.#ears) {
      for (const channel of ear.channels.keys()) if (owners.get(channel) !== server) ear.channels.delete(channel);
      if (ear.channels.size === 0) this.#leave(server);
    }
    for (const [channel, owner] of owners) {
      if (owner === undefined) this.#lookLater();
      else this.#ask(owner, channel);
    }
  }

  #ask(server: Redis, channel: string): void {
    const ear = this.#ears.get(server) ?? { channels: new Map(), unanswered: 0 };
    this.#ears.set(server, ear);
    if (ear.channels.has(channel)) return;
    const command = this.#command(channel);
    ear.channels.set(channel, command);
    ear.unanswered += 1;
    Promise.resolve(server.sendCommand(command)).then(
      () => this.#answered(server, ear),
      () => this.#doubt(server, ear),
    );
  }

  #answered(server: Redis, ear: Ear): void {
    ear.unanswered -= 1;
    if (ear.unanswered > 0 || this.#ears.get(server) !== ear) return;
    this.#attempt = 0;
    for (const watcher of this.#watchers) watcher();
  }

  #doubt(server: Redis, ear: Ear | undefined): void {
    if (ear === undefined || this.#ears.get(server) !== ear) return;
    this.#ears.delete(server);
    for (const command of ear.channels.values()) command.reject(new Error('the connection is in doubt'));
    this.#lookLater();
  }

  /** A node of a cluster of which nothing is wanted any more needs no connection, and may still tell of what others tell of. */
  #leave(server: Redis): void {
    this.#ears.delete(server);
    if (server !== this.#redis) server.disconnect();
  }

  #lookLater(): void {
    if (this.#timer !== undefined || this.#redis.status !== 'ready') return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#lookAnew();
    }, retryMs(this.#attempt)).unref();
    this.#attempt += 1;
  }

  #lookAnew(): void {
    const redis = this.#redis;
    if (!isCluster(redis)) this.#look();
    else if (redis.status === 'ready') {
      redis.refreshSlotsCache((error) => {
        // None of the nodes answers that are known: others may have taken their place.
        if (error && redis.status === 'ready') redis.disconnect(true);
      });
    }
  }

  #command(channel: string): Command {
    return new Command('ssubscribe', [channel], { keyPrefix: this.#keyPrefix });
  }
}
