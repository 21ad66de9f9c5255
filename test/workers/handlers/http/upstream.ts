import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A real upstream on loopback that answers with `listener`. */
export class Upstream {
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start(listener: RequestListener): Promise<Upstream> {
    const server = createServer(listener);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return new Upstream(server);
  }

  get port(): number {
    const address: AddressInfo | string | null = this.#server.address();
    if (typeof address !== 'object' || address === null) throw new Error('the upstream does not listen');
    return address.port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/run`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
