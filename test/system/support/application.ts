import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';

/** What reached the application. */
export interface Arrival {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** An application that knows nothing of Headgate; what it is asked at `/forbidden` it refuses. */
export interface TestApplication {
  readonly port: number;
  readonly arrivals: Arrival[];
  close(): Promise<void>;
}

export async function startApplication(): Promise<TestApplication> {
  const arrivals: Arrival[] = [];
  const server = createServer(async (request, response) => {
    const { method, url, headers } = request;
    arrivals.push({ method, url, headers, body: await text(request) });
    response.statusCode = url === '/forbidden' ? 403 : 200;
    response.end('from the application');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the application does not listen on a port');
  return {
    port: address.port,
    arrivals,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
