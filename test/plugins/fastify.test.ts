import { type FastifyInstance, type FastifyRequest, fastify, type InjectOptions } from 'fastify';
import { afterEach, describe, expect, it } from 'vitest';
import { type HeadgateFastifyOptions, headgate } from '../../src/plugins/fastify.js';

const one = { algorithm: 'local', rate: '0.001/s', burst: 1 };
const policies = { api: one, other: one, wide: { ...one, burst: 3 } };

const apps: FastifyInstance[] = [];
afterEach(async () => {
  for (const app of apps.splice(0)) await app.close();
});
async function build(
  options: Partial<HeadgateFastifyOptions>,
  add: (app: FastifyInstance) => unknown,
): Promise<FastifyInstance> {
  const app = fastify();
  apps.push(app);
  await app.register(headgate, { policies, ...options });
  await add(app);
  return app;
}

async function statuses(app: FastifyInstance, count: number, request: InjectOptions | string): Promise<number[]> {
  const all: number[] = [];
  for (let i = 0; i < count; i++) all.push((await app.inject(request)).statusCode);
  return all;
}

describe('a route of fastify', () => {
  it('may be held to a policy and cost of its own, or to none', async () => {
    const app = await build({ policy: 'api' }, (server) => {
      server.get('/usual', async () => 'ok');
      server.get('/own', { config: { headgate: { policy: 'wide', cost: 3 } } }, async () => 'ok');
      server.get(
        '/priced',
        { config: { headgate: { policy: 'wide', cost: ({ query }) => pagesIn(query) } } },
        async () => 'ok',
      );
      server.get('/free', { config: { headgate: false } }, async ({ headgate: decision }) => ({ decision }));
    });
    expect(await statuses(app, 2, '/usual')).toEqual([200, 429]);
    expect(await statuses(app, 2, '/own')).toEqual([200, 429]);
    expect(await statuses(app, 1, '/priced?pages=4')).toEqual([422]);
    expect((await app.inject('/free')).json()).toEqual({ decision: null });
    expect(await statuses(app, 3, '/free')).toEqual([200, 200, 200]);
  });

  it('is held by what it says alone where the options name no policy', async () => {
    const app = await build({}, (server) => {
      server.get('/held', { config: { headgate: { policy: 'api' } } }, async () => 'ok');
      server.get('/other', async () => 'ok');
    });
    expect(await statuses(app, 2, '/held')).toEqual([200, 429]);
    expect(await statuses(app, 3, '/other')).toEqual([200, 200, 200]);
  });

  it('is held wherever it stands: in a plugin of its own, and where there is no route', async () => {
    const app = await build({ policy: 'wide' }, async (server) => {
      await server.register(async (inner) => inner.get('/inner', async () => 'ok'), { prefix: '/v1' });
    });
    expect(await statuses(app, 2, '/v1/inner')).toEqual([200, 200]);
    expect(await statuses(app, 2, '/nowhere')).toEqual([404, 429]);
    expect(await statuses(app, 1, '/v1/inner')).toEqual([429]);
  });

  it.each([
    ['a policy that there is not', { policy: 'apii' }, 'GET /a config.headgate.policy: there is no policy "apii"'],
    [
      'a cost that cannot be',
      { cost: -1 },
      'GET /a config.headgate.cost: expected a number from 1e-6 to 1e9, or a function',
    ],
  ])('is refused at once when it names %s', async (_, held, fault) => {
    const start = build({ policy: 'api' }, (server) => {
      server.get('/a', { config: { headgate: held } }, async () => 'ok');
    });
    await expect(start).rejects.toThrow(fault);
  });
});

describe('the fastify plugin', () => {
  it('refuses options that cannot be used, at registration', async () => {
    await expect(build({ policy: 'apii' }, () => {})).rejects.toThrow('policy: there is no policy "apii"');
    const wrong: object = { hook: 'onSend' };
    await expect(build(wrong, () => {})).rejects.toThrow('hook: expected onRequest or preHandler');
  });

  it('looks before the body is read, unless told to wait for the application’s own authentication', async () => {
    const users = new WeakMap<FastifyRequest, string>();
    const app = await build(
      { policy: 'api', hook: 'preHandler', caller: (request) => ({ key: users.get(request) ?? 'nobody' }) },
      (server) => {
        server.addHook('preValidation', async (request) => {
          users.set(request, String(request.headers.user));
        });
        server.post('/', async () => 'ok');
      },
    );
    const post = (user: string): InjectOptions => ({ method: 'POST', url: '/', headers: { user }, payload: { a: 1 } });
    expect(await statuses(app, 2, post('ann'))).toEqual([200, 429]);
    expect(await statuses(app, 2, post('bob'))).toEqual([200, 429]);

    let parsed = 0;
    const early = await build({ policy: 'api' }, (server) => {
      server.addHook('preValidation', async () => {
        parsed += 1;
      });
      server.post('/', async () => 'ok');
    });
    expect(await statuses(early, 3, post('ann'))).toEqual([200, 429, 429]);
    expect(parsed).toBe(1);
  });

  it('lets the program answer a refusal, with status and headers set', async () => {
    let handled = 0;
    const app = await build(
      {
        policy: 'api',
        onRefused: (request, reply, decision) => {
          reply.send({ sorry: request.url, outcome: decision.outcome });
        },
      },
      (server) => {
        server.get('/a', async () => {
          handled += 1;
          return 'ok';
        });
      },
    );
    await app.inject('/a');
    const answer = await app.inject('/a');
    expect(answer.statusCode).toBe(429);
    expect(answer.headers['retry-after']).toBe('1000');
    expect(answer.json()).toEqual({ sorry: '/a', outcome: 'limited' });
    expect(handled).toBe(1);
  });

  it.each<[string, HeadgateFastifyOptions['onRefused'], number, string]>([
    ['later', (_request, reply) => void setImmediate(() => reply.code(503).send('later')), 503, 'later'],
    ['by returning the reply', async (_request, reply) => reply.send('async'), 429, 'async'],
    [
      'by an error',
      async () => {
        throw new Error('on purpose');
      },
      500,
      'on purpose',
    ],
  ])('goes no further with a refusal that the program answers %s', async (_, onRefused, status, text) => {
    let handled = 0;
    const app = await build({ policy: 'api', onRefused }, (server) => {
      server.get('/', async () => {
        handled += 1;
        return 'ok';
      });
    });
    await app.inject('/');
    const answer = await app.inject('/');
    expect([answer.statusCode, handled]).toEqual([status, 1]);
    expect(answer.body).toContain(text);
  });

  it('leaves errors of `caller` to the error handler of the application', async () => {
    const app = await build(
      {
        policy: 'api',
        caller: () => {
          throw new Error('who?');
        },
      },
      (server) => {
        server.setErrorHandler((error, _request, reply) => reply.code(500).send({ mine: String(error) }));
        server.get('/', async () => 'ok');
      },
    );
    expect((await app.inject('/')).json()).toEqual({ mine: 'Error: who?' });
  });
});

function pagesIn(query: unknown): number {
  return typeof query === 'object' && query !== null && 'pages' in query ? Number(query.pages) : 1;
}
