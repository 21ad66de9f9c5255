import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { pageSnippet } from '../../docs/page-snippet.js';
import { freePort } from './free-port.js';
import { startNginx } from './nginx.js';

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

export interface NginxParts {
  readonly headgate: string;
  readonly application: Pick<TestApplication, 'port'>;
  readonly gatewayKey: string;
  /** In place of `policy=api`. */
  readonly query?: string;
  /** With what docs/forward-auth.md says for letting pass while Headgate is away. */
  readonly open?: boolean;
}

/** nginx with the configuration of docs/forward-auth.md, but for what everybody has to fill in. */
export async function startNginxOfDocs(parts: NginxParts): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const port = await freePort();
  let config = await pageSnippet('forward-auth.md', 'nginx');
  const fillIn = (text: string, value: string) => {
    if (config.split(text).length !== 2) throw new Error(`the snippet does not have "${text}" once`);
    config = config.replace(text, value);
  };
  if (parts.open === true) {
    fillIn('        internal;\n', `        internal;\n${await pageSnippet('forward-auth.md', 'nginx-open')}`);
    const location = await pageSnippet('forward-auth.md', 'nginx-open-location');
    fillIn('    location @headgate_fault {', `${location}    location @headgate_fault {`);
  }
  fillIn('127.0.0.1:8080', new URL(parts.headgate).host);
  fillIn('127.0.0.1:3000', `127.0.0.1:${parts.application.port}`);
  fillIn('listen 80;', `listen 127.0.0.1:${port};`);
  fillIn('GATEWAY_KEY', parts.gatewayKey);
  fillIn('policy=api', parts.query ?? 'policy=api');
  const nginx = await startNginx(config);
  return { url: `http://127.0.0.1:${port}`, stop: () => nginx.stop() };
}
