import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { CommandCounter } from './command-counter.js';

/** How the proxy treats its connections, those that are open and those to come. */
type Mode = 'pass' | 'swallow' | 'reset' | 'refuse';

/** A network between clients and one Redis, which can fail in the ways in which networks do. */
export interface TcpProxy {
  readonly port: number;
  /** `redis://127.0.0.1:<port>`. */
  readonly url: string;
  /** Commands that clients have sent so far, whether or not they were passed on. */
  readonly commands: number;
  /** Connections that clients have made so far. */
  readonly connections: number;
  /** Passes everything on, also what was swallowed meanwhile, as a network does when it recovers. */
  pass(): Promise<void>;
  /** Accepts everything and passes nothing on, in either direction. */
  swallow(): void;
  /** Resets the open connections, and each new one. */
  reset(): void;
  /** Closes the open connections; new ones are refused. */
  refuse(): Promise<void>;
  /** Ends. May be called twice. */
  stop(): Promise<void>;
}

/** Starts a proxy on a free loopback port in front of the Redis at a unix socket. */
export async function startTcpProxy(socketPath: string): Promise<TcpProxy> {
  let mode: Mode = 'pass';
  let connections = 0;
  const counter = new CommandCounter();
  const links = new Set<Link>();
  const server = createServer((client) => {
    connections += 1;
    if (mode === 'reset') {
      client.on('error', () => undefined).resetAndDestroy();
      return;
    }
    const link = new Link(client, connect(socketPath), counter.stream());
    links.add(link);
    client.once('close', () => links.delete(link));
    link.flows(mode === 'pass');
  });
  const listen = async (port: number): Promise<number> => {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  };
  const close = async (): Promise<void> => {
    if (!server.listening) return;
    const closed = once(server, 'close');
    server.close();
    for (const link of links) link.cut();
    await closed;
  };
  const port = await listen(0);
  return {
    port,
    url: `redis://127.0.0.1:${port}`,
    get commands() {
      return counter.count;
    },
    get connections() {
      return connections;
    },
    async pass() {
      mode = 'pass';
      if (!server.listening) await listen(port);
      for (const link of links) link.flows(true);
    },
    swallow() {
      mode = 'swallow';
      for (const link of links) link.flows(false);
    },
    reset() {
      mode = 'reset';
      for (const link of links) link.cut();
    },
    async refuse() {
      mode = 'refuse';
      await close();
    },
    stop: close,
  };
}

/** A connection of a client and the one to Redis behind it. What cannot flow is kept until it can. */
class Link {
  readonly #client: Socket;
  readonly #redis: Socket;
  readonly #kept: { readonly to: Socket; readonly bytes: Buffer }[] = [];
  #flowing = false;

  constructor(client: Socket, redis: Socket, count: (bytes: Buffer) => void) {
    this.#client = client;
    this.#redis = redis;
    client.on('data', (bytes: Buffer) => {
      count(bytes);
      this.#carry(redis, bytes);
    });
    redis.on('data', (bytes: Buffer) => this.#carry(client, bytes));
    for (const [end, other] of [
      [client, redis],
      [redis, client],
    ] as const) {
      end.on('error', () => undefined).once('close', () => other.destroy());
    }
  }

  flows(flowing: boolean): void {
    this.#flowing = flowing;
    if (!flowing) return;
    for (const { to, bytes } of this.#kept.splice(0)) to.write(bytes);
  }

  cut(): void {
    this.#client.resetAndDestroy();
    this.#redis.destroy();
  }

  #carry(to: Socket, bytes: Buffer): void {
    if (this.#flowing) to.write(bytes);
    else this.#kept.push({ to, bytes });
  }
}
