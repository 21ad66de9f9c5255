import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { ListenAddress } from '../src/config/listen-address.js';
import type { WorkerReport } from './health.js';

/** The probes of a worker process, listening. */
export interface HealthServer {
  readonly port: number;
  close(): Promise<void>;
}

/** What `/metrics` is answered from. */
interface Exposed {
  readonly contentType: string;
  text(): Promise<string>;
}

/**
 * `GET /healthz`, 200 while the process is alive, `GET /readyz`, 200 or 503 with what was found, and `GET /metrics`. They
 * need no key.
 */
export async function startHealthServer(
  { host, port }: ListenAddress,
  report: () => Promise<WorkerReport>,
  metrics: Exposed,
): Promise<HealthServer> {
  const server = createServer(async ({ method = '', url = '' }, response) => {
    const [path] = url.split('?');
    if (method !== 'GET' && method !== 'HEAD') return answer(response, 405, { status: 'method not allowed' });
    if (path === '/healthz') return answer(response, 200, { status: 'alive' });
    if (path === '/metrics') {
      const text = await metrics.text();
      return void response.writeHead(200, { 'content-type': metrics.contentType }).end(text);
    }
    if (path !== '/readyz') return answer(response, 404, { status: 'not found' });
    const { ready, checks } = await report();
    answer(response, ready ? 200 : 503, { status: ready ? 'ready' : 'not ready', checks });
  });
  server.listen(port, host);
  await once(server, 'listening');
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : port,
    close: async () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

function answer(response: ServerResponse, status: number, body: object): void {
  const retry = status === 503 ? { 'retry-after': '1' } : {};
  response.writeHead(status, { 'content-type': 'application/json', ...retry }).end(JSON.stringify(body));
}
