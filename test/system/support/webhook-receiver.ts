import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';

/** One request that came in, checked as a receiver checks it. */
export interface Received {
  readonly path: string;
  readonly id: string;
  readonly timestamp: number;
  readonly body: string;
  /** The body as JSON where its signature is that of the secret; else why not. */
  readonly verified: unknown;
}

/** What is answered to the n-th request (from 1) about one message; nothing at all while it is undefined. */
export type Answering = (received: Received, nth: number) => number | undefined;

/** A receiver of webhooks that checks their signatures with the reference library. */
export class WebhookReceiver {
  readonly received: Received[] = [];
  /** By path; another path answers 200. */
  readonly secrets = new Map<string, string>();
  answering: Answering = () => 200;
  readonly #server: Server;
  readonly #watchers = new Set<() => void>();

  private constructor(server: Server) {
    this.#server = server;
    server.on('request', (request, response) => void this.#take(request, response));
  }

  static async start(): Promise<WebhookReceiver> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return new WebhookReceiver(server);
  }

  url(path: string): string {
    const { port }: AddressInfo = Object(this.#server.address());
    return `http://127.0.0.1:${port}${path}`;
  }

  /** What came to a path. */
  at(path: string): Received[] {
    return this.received.filter((each) => each.path === path);
  }

  /** Resolves once so many requests came to a path. */
  async until(path: string, count: number, withinMs = 30_000): Promise<Received[]> {
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(
        () => reject(new Error(`${this.at(path).length} of ${count} requests came to ${path}`)),
        withinMs,
      );
      const look = (): void => {
        if (this.at(path).length < count) return;
        clearTimeout(timer);
        this.#watchers.delete(look);
        resolve();
      };
      this.#watchers.add(look);
      look();
    });
    return this.at(path);
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const pieces: Buffer[] = [];
    try {
      for await (const piece of request) pieces.push(Buffer.from(piece));
    } catch {
      return;
    }
    const body = Buffer.concat(pieces).toString();
    const path = request.url ?? '';
    const header = (name: string): string => String(request.headers[name]);
    const received = {
      path,
      id: header('webhook-id'),
      timestamp: Number(header('webhook-timestamp')),
      body,
      verified: this.#verified(path, body, request),
    };
    this.received.push(received);
    const nth = this.received.filter((each) => each.path === path && each.id === received.id).length;
    const status = this.answering(received, nth);
    if (status !== undefined) response.writeHead(status, { location: this.url('/elsewhere') }).end();
    for (const watcher of this.#watchers) watcher();
  }

  #verified(path: string, body: string, { headers }: IncomingMessage): unknown {
    try {
      const texts = Object.entries(headers).map(([name, value]) => [name, String(value)]);
      return new Webhook(this.secrets.get(path) ?? '').verify(body, Object.fromEntries(texts));
    } catch (error) {
      return String(error);
    }
  }
}
