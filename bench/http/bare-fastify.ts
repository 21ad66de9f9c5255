import { fastify } from 'fastify';

/** A process that only answers: what HTTP itself leaves of the machine, with a body and an answer like those of a job. Prints its address. */
const app = fastify();
app.post<{ Body: { type: string } }>('/v1/jobs', async ({ body }, reply) => {
  reply.code(202);
  const releaseAt = new Date().toISOString();
  const job = { id: 'x'.repeat(40), type: body.type, tenant: 'acme', state: 'waiting' };
  return { ...job, position: 1, releaseAt, waitMs: 0, basis: 'rate', releaseBetween: null };
});
process.stdout.write(`${await app.listen({ port: 0, host: '127.0.0.1' })}\n`);
