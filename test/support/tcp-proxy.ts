import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { CommandCounter } from './command-counter.js';
import { OneWay } from './one-way.js';

/** What clients say, what Redis says, or both. */
export type Direction = 'requests' | 'replies' | 'both';

/** What becomes of what is sent, on open connections and on those to come. */
interface Weather {
  readonly requestsFlow: boolean;
  readonly repliesFlow: boolean;
  readonly delayMs: number;
}

const FAIR: Weather = { requestsFlow: true, repliesFlow: true, delayMs: 0 };

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
  /** Accepts everything and passes nothing on in this direction; in both unless told. */
  swallow(direction?: Direction): void;
  /** Passes everything on, so much later, each way. */
  delay(ms: number): void;
  /** Resets the open connections; what they had under way is lost. New ones are passed on. */
  cut(): void;
  /** The open connections are dead and nobody says so: what is sent on them is lost for good. New ones are passed on. */
  forget(): void;
  /** Resets the open connections, and each new one. */
  reset(): void;
  /** Closes the open connections; new ones are refused. */
  refuse(): Promise<void>;
  /** Ends. May be called twice. */
  stop(): Promise<void>;
}

/** Starts a proxy on a free loopback port in front of the Redis at a unix socket. */
export async function startTcpProxy(socketPath: string): Promise<TcpProxy> {
  let weather = FAIR;
  let resetting = false;
  let connections = 0;
  const counter = new CommandCounter();
  const links = new Set<Link>();
  const forgotten = new Set<Link>();
  const server = createServer((client) => {
    connections += 1;
    if (resetting) {
      client.on('error', () => undefined).resetAndDestroy();
      return;
    }
    const link = new Link(client, connect(socketPath), counter.stream());
    links.add(link);
    client.once('close', () => {
      links.delete(link);
      forgotten.delete(link);
    });
    link.meet(weather);
  });
  const listen = async (port: number): Promise<number> => {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  };
  const cut = (): void => {
    for (const link of [...links, ...forgotten]) link.cut();
  };
  const close = async (): Promise<void> => {
    if (!server.listening) return;
    const closed = once(server, 'close');
    server.close();
    cut();
    await closed;
  };
  const change = (to: Weather): void => {
    resetting = false;
    weather = to;
    for (const link of links) link.meet(to);
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
      if (!server.listening) await listen(port);
      change(FAIR);
    },
    swallow(direction = 'both') {
      change({ ...weather, requestsFlow: direction === 'replies', repliesFlow: direction === 'requests' });
    },
    delay: (delayMs) => change({ ...FAIR, delayMs }),
    cut,
    forget() {
      for (const link of links) {
        link.meet({ ...FAIR, requestsFlow: false, repliesFlow: false });
        forgotten.add(link);
      }
      links.clear();
    },
    reset() {
      resetting = true;
      cut();
    },
    refuse: close,
    stop: close,
  };
}

/** A connection of a client and the one to Redis behind it. */
class Link {
  readonly #client: Socket;
  readonly #redis: Socket;
  readonly #requests: OneWay;
  readonly #replies: OneWay;

  constructor(client: Socket, redis: Socket, count: (bytes: Buffer) => void) {
    this.#client = client;
    this.#redis = redis;
    this.#requests = new OneWay(redis);
    this.#replies = new OneWay(client);
    client.on('data', (bytes: Buffer) => {
      count(bytes);
      this.#requests.carry(bytes);
    });
    redis.on('data', (bytes: Buffer) => this.#replies.carry(bytes));
    for (const [end, other] of [
      [client, redis],
      [redis, client],
    ] as const) {
      end
        .on('error', () => undefined)
        .once('close', () => {
          this.#requests.stop();
          this.#replies.stop();
          other.destroy();
        });
    }
  }

  meet({ requestsFlow, repliesFlow, delayMs }: Weather): void {
    for (const way of [this.#requests, this.#replies]) way.delayMs = delayMs;
    this.#requests.flowing = requestsFlow;
    this.#replies.flowing = repliesFlow;
  }

  cut(): void {
    this.#client.resetAndDestroy();
    this.#redis.destroy();
  }
}
