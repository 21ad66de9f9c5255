import { fastify } from 'fastify';
import { headgate } from '../../../dist/src/plugins/fastify.js';

/**
 * An API with the plugin, as a process of its own: `held-api.mjs OPTIONS`, with options of the plugin as JSON. The header
 * `user` says who calls, and the path which policy holds. It writes its address on one line when it listens. Like the
 * command line, it is what was built.
 */
const options = JSON.parse(process.argv[2] ?? '{}');
const app = fastify();
await app.register(headgate, { ...options, caller: ({ headers }) => ({ key: String(headers.user) }) });
for (const policy of Object.keys(options.policies)) {
  app.get(`/${policy}`, { config: { headgate: { policy } } }, async () => 'ok');
}
app.get('/clock', { config: { headgate: false } }, async () => ({ wallClockMs: Date.now() }));
process.once('SIGTERM', () => void app.close());
process.stdout.write(`${await app.listen({ host: '127.0.0.1', port: 0 })}\n`);
