import { once } from 'node:events';
import { createServer } from 'node:http';
import fastifyLimit from '@fastify/rate-limit';
import express, { type RequestHandler } from 'express';
import { rateLimit } from 'express-rate-limit';
import { type FastifyInstance, fastify } from 'fastify';
import { Redis } from 'ioredis';
import { RedisStore } from 'rate-limit-redis';
import { headgate as middleware } from '../../dist/src/plugins/express.js';
import { headgate as plugin } from '../../dist/src/plugins/fastify.js';
import { asReply } from './as-reply.js';
import { QUOTAS } from './terms.js';

/** Who calls, as `users.lua` says. */
export const USER_HEADER = 'x-user';

const { calls, windowMs } = QUOTAS.wide;
const RATE = { rate: '1000000/s', burst: calls };
const POLICIES = {
  'token-bucket': { ...RATE, deadline: '5s', onOutage: 'closed' },
  local: { ...RATE, algorithm: 'local' },
  /** One limit for all callers: a lease pays where the same key is asked for often. */
  leased: { ...RATE, algorithm: 'leased', per: 'policy', deadline: '5s', onOutage: 'closed' },
} as const;
type PolicyName = keyof typeof POLICIES;

/** One route, `GET /`, with a limiter that knows callers by a header, or without; resolves with the port. */
export const SERVERS: Readonly<Record<string, (socketPath: string) => Promise<number>>> = {
  fastify: () => onFastify(async () => undefined),
  'fastify, token-bucket': (redis) => onFastify((app) => holdOnFastify(app, 'token-bucket', redis)),
  'fastify, local': () => onFastify((app) => holdOnFastify(app, 'local')),
  'fastify, leased, one limit for all': (redis) => onFastify((app) => holdOnFastify(app, 'leased', redis)),
  'fastify, @fastify/rate-limit, Redis': (redis) => onFastify((app) => limitOnFastify(app, new Redis(redis))),
  'fastify, @fastify/rate-limit, memory': () => onFastify((app) => limitOnFastify(app)),
  express: () => onExpress((_request, _response, next) => next()),
  'express, token-bucket': (redis) => onExpress(holdOnExpress('token-bucket', redis)),
  'express, local': () => onExpress(holdOnExpress('local')),
  'express, express-rate-limit, Redis': (redis) => onExpress(limitOnExpress(new Redis(redis))),
  'express, express-rate-limit, memory': () => onExpress(limitOnExpress()),
};

async function onFastify(limit: (app: FastifyInstance) => Promise<void>): Promise<number> {
  const app = fastify();
  await limit(app);
  app.get('/', async () => ({ hello: 'world' }));
  await app.listen({ host: '127.0.0.1', port: 0 });
  return portOf(app.server.address());
}

async function holdOnFastify(app: FastifyInstance, policy: PolicyName, redis?: string): Promise<void> {
  await app.register(plugin, {
    policies: { [policy]: POLICIES[policy] },
    policy,
    redis,
    caller: ({ headers }) => ({ key: String(headers[USER_HEADER]) }),
  });
}

async function limitOnFastify(app: FastifyInstance, redis?: Redis): Promise<void> {
  await app.register(fastifyLimit, {
    max: calls,
    timeWindow: windowMs,
    cache: 100_000,
    keyGenerator: ({ headers }) => String(headers[USER_HEADER]),
    ...(redis === undefined ? {} : { redis }),
  });
}

async function onExpress(limit: RequestHandler): Promise<number> {
  const app = express().use(limit);
  app.get('/', (_request, response) => {
    response.json({ hello: 'world' });
  });
  const server = createServer(app).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return portOf(server.address());
}

function holdOnExpress(policy: PolicyName, redis?: string): RequestHandler {
  return middleware({
    policies: { [policy]: POLICIES[policy] },
    policy,
    redis,
    caller: ({ headers }) => ({ key: String(headers[USER_HEADER]) }),
  });
}

function limitOnExpress(redis?: Redis): RequestHandler {
  return rateLimit({
    windowMs,
    limit: calls,
    standardHeaders: 'draft-8',
    keyGenerator: ({ headers }) => String(headers[USER_HEADER]),
    ...(redis === undefined ? {} : { store: storeOf(redis) }),
  });
}

function storeOf(redis: Redis): RedisStore {
  return new RedisStore({
    sendCommand: async (command: string, ...args: string[]) => asReply(await redis.call(command, ...args)),
  });
}

function portOf(address: string | { readonly port: number } | null): number {
  if (address === null || typeof address === 'string') throw new Error('the server does not listen on a port');
  return address.port;
}
