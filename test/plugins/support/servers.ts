import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import express from 'express';
import { fastify } from 'fastify';
import { headgate as middleware } from '../../../src/plugins/express.js';
import { headgate as plugin } from '../../../src/plugins/fastify.js';
import type { HeadgateOptions } from '../../../src/plugins/plugin-options.js';
import type { Decision, Policing } from '../../../src/policing/policing.js';

/** What a request of either framework has. */
export interface AnyRequest {
  readonly headers: IncomingMessage['headers'];
  readonly url?: string | undefined;
}

/** Options that mean the same to both. */
export type SharedOptions = Omit<HeadgateOptions<AnyRequest, never>, 'onRefused'> & { readonly policing?: Policing };

/** A server that listens, whose routes all answer with the decision that they were given. */
export interface TestServer {
  readonly url: string;
  close(): Promise<void>;
}

/** One way to use Headgate in a program. */
export interface ServerKind {
  readonly name: string;
  /** @param trustProxy Whether `X-Forwarded-For` tells the client's address. */
  open(options: SharedOptions, trustProxy?: boolean): Promise<TestServer>;
}

const onFastify: ServerKind = {
  name: 'fastify',
  async open(options, trustProxy = false) {
    const app = fastify({ trustProxy });
    await app.register(plugin, options);
    app.all('/*', async ({ headgate }) => shown(headgate ?? undefined));
    const url = await app.listen({ host: '127.0.0.1', port: 0 });
    return { url, close: () => app.close() };
  },
};

const onExpress: ServerKind = {
  name: 'express',
  async open(options, trustProxy = false) {
    const app = express().disable('x-powered-by').set('trust proxy', trustProxy);
    // Express prints what goes wrong unless it is under test.
    app.set('env', 'test');
    const held = middleware(options);
    app.use(held);
    app.use((request, response) => {
      response.json(shown(request.headgate));
    });
    return listening(createServer(app), held.close);
  },
};

const onNode: ServerKind = {
  name: 'node:http',
  async open(options) {
    const held = middleware(options);
    const server = createServer((request: IncomingMessage & { headgate?: Decision }, response: ServerResponse) => {
      held(request, response, (error) => {
        response.statusCode = error === undefined ? 200 : 500;
        response.setHeader('content-type', 'application/json');
        response.end(JSON.stringify(shown(request.headgate)));
      });
    });
    return listening(server, held.close);
  },
};

export const KINDS: readonly ServerKind[] = [onFastify, onExpress, onNode];
/** Those that can be told whom to believe about the client's address. */
export const FRAMEWORKS: readonly ServerKind[] = [onFastify, onExpress];

function shown(decision: Decision | undefined) {
  return { outcome: decision?.outcome ?? null, decidedBy: decision?.decidedBy ?? null };
}

async function listening(server: Server, closeOwn: () => Promise<void>): Promise<TestServer> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server does not listen on a port');
  return {
    url: `http://127.0.0.1:${address.port}`,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
      await closeOwn();
    },
  };
}
