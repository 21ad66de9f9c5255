import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import express, { type Response as ExpressResponse, type NextFunction, type Request } from 'express';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { headgate } from '../../src/plugins/express.js';

const one = { algorithm: 'local', rate: '0.001/s', burst: 1 };
const policies = { api: one, other: one };

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close().closeAllConnections();
});
async function listen(app: express.Express): Promise<string> {
  app.set('env', 'test');
  const server = createServer(app).listen(0, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server does not listen on a port');
  return `http://127.0.0.1:${address.port}`;
}

async function statuses(count: number, url: string): Promise<number[]> {
  const all: number[] = [];
  for (let i = 0; i < count; i++) all.push((await fetch(url)).status);
  return all;
}

describe('the middleware on express', () => {
  it('may stand before single routes, each with a policy of its own', async () => {
    const app = express();
    app.get('/a', headgate({ policies, policy: 'api' }), (_request, response) => void response.send('a'));
    app.get('/b', headgate({ policies, policy: 'other' }), (_request, response) => void response.send('b'));
    app.get('/c', (_request, response) => void response.send('c'));
    const url = await listen(app);
    expect(await statuses(2, `${url}/a`)).toEqual([200, 429]);
    expect(await statuses(2, `${url}/b`)).toEqual([200, 429]);
    expect(await statuses(2, `${url}/c`)).toEqual([200, 200]);
  });

  it('tells the console of an outage where nobody stated a logger', async () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
    const held = headgate({ redis: '/nowhere/redis.sock', policies: { api: { rate: '1/s' } }, policy: 'api' });
    const app = express();
    app.get('/', held, (_request, response) => void response.send('ok'));
    expect(await statuses(3, await listen(app))).toEqual([200, 200, 200]);
    expect(warn.mock.calls.map(([message]) => message)).toEqual([
      'headgate: Redis does not answer: policies decide as their onOutage says',
    ]);
    warn.mockRestore();
    await held.close();
  });

  it('knows routes by their whole path, wherever it is mounted', async () => {
    const app = express();
    const api = express.Router();
    api.use(headgate({ policies, routes: [{ path: '/v1/costly', policy: 'api' }] }));
    api.get('/costly', (_request, response) => void response.send('ok'));
    app.use('/v1', api);
    const url = await listen(app);
    expect(await statuses(2, `${url}/v1/costly`)).toEqual([200, 429]);
  });

  it('lets the program answer a refusal, with status and headers set', async () => {
    const app = express();
    const onRefused = (request: Request, response: object, { outcome }: { outcome: string }) => {
      if (response === request.res) request.res?.json({ sorry: request.path, outcome });
    };
    app.use(headgate({ policies, policy: 'api', onRefused }));
    app.get('/a', (_request, response) => void response.send('a'));
    const url = await listen(app);
    await fetch(`${url}/a`);
    const answer = await fetch(`${url}/a`);
    expect(answer.status).toBe(429);
    expect(answer.headers.get('retry-after')).toBe('1000');
    expect(await answer.json()).toEqual({ sorry: '/a', outcome: 'limited' });
  });

  it.each([
    [
      '`caller`',
      {
        caller: () => {
          throw new Error('on purpose');
        },
      },
    ],
    [
      '`onRefused`',
      {
        cost: () => 2,
        onRefused: async () => {
          throw new Error('on purpose');
        },
      },
    ],
  ])('hands errors of %s to the error handler of the application', async (_, broken) => {
    const app = express();
    app.use(headgate({ policies, policy: 'api', ...broken }));
    app.get('/', (_request, response) => void response.send('ok'));
    app.use((error: Error, _request: Request, response: ExpressResponse, _next: NextFunction) => {
      response.json({ mine: error.message });
    });
    const answer = await fetch(await listen(app));
    expect([answer.status, await answer.json()]).toEqual([500, { mine: 'on purpose' }]);
  });

  it('refuses options that cannot be used, at once', () => {
    expect(() => headgate({ policies })).toThrow('policy: required, unless there are routes');
    expect(() => headgate({ policies, policy: 'apii' })).toThrow('policy: there is no policy "apii"');
  });

  it('may be closed twice', async () => {
    const held = headgate({ policies, policy: 'api' });
    await held.close();
    await held.close();
  });
});
