import { createHash } from 'node:crypto';
import {
  COMPLETED_JOB,
  COMPLETED_KEY,
  COMPLETED_OUTPUT,
  COMPLETED_RESULT,
  EXAMPLE_JOBS,
  EXAMPLE_KEY,
  RUNNING_CLAIM,
} from '../../../src/http/described/example-world.js';
import { hashKey } from '../../../src/http/keyring.js';
import { openPolicing } from '../../../src/policing/open-policing.js';
import { routeTable } from '../../../src/policing/route-table.js';
import { closeConnection, openConnection, untilReady } from '../../../src/redis/connection.js';
import { API_KEY_TENANTS, API_KEYS_CHANNEL } from '../../../src/redis/keys.js';
import { runScript } from '../../../src/redis/script.js';
import { scripts } from '../../../src/shaping/api-key-scripts.js';
import { FEED_DEADLINE_MS, RedisJobFeed } from '../../../src/shaping/job-feed.js';
import { newJobId } from '../../../src/shaping/job-id.js';
import { typeSettings } from '../../../src/shaping/settings.js';
import { type Outcome, WorkSource } from '../../../src/shaping/work-source.js';
import type { TestRedis } from '../../support/redis-server.js';
import { EXHAUSTED_KEY } from './foreign-names.js';
import { type LiveApp, liveApp } from './live-app.js';
import { remoteWork } from './remote-work.js';
import { configFrom, KEYS } from './test-config.js';

const YAML = `
types:
  ocr: { cost: { from: data.pages, min: 1, max: 500, default: 1 }, capacity: { rate: 20/s, burst: 20, concurrency: 4 } }
  chat: {}
tiers:
  pro: { rate: 10/s, burst: 5, depth: 1000, weight: 4, concurrency: 4 }
  free: { rate: 1/s }
defaultTier: free
tenants:
  acme: { tier: pro, types: { chat: { rate: unlimited } }, webhook: { secret: whsec_${Buffer.alloc(32).toString('base64')} } }
  small: { tier: pro, types: { chat: { rate: unlimited } } }
policies:
  api: { rate: 2/s, burst: 100, onOutage: open }
  tight: { rate: 1/h, burst: 1, onOutage: open }
routes:
  - { method: GET, path: /reports/:id, policy: api }
`;

/** The app with all of its routes, and what the document's examples take for granted. */
export interface ExampleWorld {
  /** Where it listens. */
  readonly url: string;
  readonly live: LiveApp;
  close(): Promise<void>;
}

/** Empties Redis and makes that world anew. */
export async function exampleWorld(server: TestRedis): Promise<ExampleWorld> {
  await server.flush();
  const connect = (name: string, deadlineMs: number) =>
    openConnection({ socketPath: server.socketPath }, { name, deadlineMs });
  const [commands, events] = [connect('api-policing', 60_000), connect('api-events', FEED_DEADLINE_MS)];
  await Promise.all([untilReady(commands), untilReady(events)]);
  const errors: unknown[] = [];
  const feed = new RedisJobFeed(events, commands, (error) => errors.push(error));
  const { policies, routes } = await configFrom(YAML);
  const policing = openPolicing({ policies, redis: commands });
  const ids: string[] = [];
  const remote = await remoteWork(server.socketPath, YAML);
  const live = await liveApp(server.socketPath, YAML, {
    feed,
    remote: remote.work,
    policed: { policing, policies, routes: routeTable(routes) },
    document: { version: '1.2.3' },
    newJobId: (type) => ids.shift() ?? newJobId(type),
  });
  await fill(live, ids);
  await live.ask('POST', '/v1/check', { policy: 'tight', key: EXHAUSTED_KEY }, 'acme');
  return {
    url: await live.app.listen({ host: '127.0.0.1', port: 0 }),
    live,
    async close() {
      await live.close();
      await remote.close();
      await policing.close();
      closeConnection(events);
      await feed.close();
      closeConnection(commands);
      if (errors.length > 0) throw new AggregateError(errors, 'the feed failed');
    },
  };
}

/** Puts the jobs and the key in. */
async function fill(live: LiveApp, ids: string[]): Promise<void> {
  const { redis, settings } = live;
  const work = new WorkSource(redis, 'chat', typeSettings(settings, 'chat'), { worker: 'w', lockMs: 60_000 });
  await work.configure();
  const post = async (id: string, body: object, headers: Record<string, string> = {}) => {
    ids.push(id);
    const content = { 'content-type': 'application/json', authorization: `Bearer ${KEYS.acme}` };
    const request = { method: 'POST', url: '/v1/jobs', payload: JSON.stringify(body) } as const;
    const { statusCode, body: answer } = await live.app.inject({ ...request, headers: { ...content, ...headers } });
    if (statusCode !== 202) throw new Error(`the world lacks ${id}: ${answer}`);
  };
  const run = async (outcome?: Outcome, output: readonly string[] = [], token = work.newToken()) => {
    const taken = await work.dispatch(token);
    if (taken.kind !== 'job') throw new Error(`nothing to run: ${taken.kind}`);
    if (output.length > 0)
      await work.emit(
        token,
        1,
        output.map((chunk) => JSON.stringify(chunk)),
      );
    if (outcome !== undefined) await work.settle({ token, tenant: taken.tenant, id: taken.id }, outcome);
  };
  await post(EXAMPLE_JOBS.completed, COMPLETED_JOB, { 'idempotency-key': COMPLETED_KEY });
  await run({ kind: 'completed', value: JSON.stringify(COMPLETED_RESULT) }, COMPLETED_OUTPUT);
  await post(EXAMPLE_JOBS.failed, { type: 'chat', data: {} });
  await run({ kind: 'failed', value: 'no such page' });
  await post(EXAMPLE_JOBS.running, { type: 'chat', data: {} });
  await run(undefined, [], `${hashKey(KEYS.worker).slice(0, 12)}#${RUNNING_CLAIM}`);
  await post(EXAMPLE_JOBS.waiting, { type: 'ocr', data: { pages: 2 } });
  const hash = createHash('sha256').update('hg_example').digest('hex');
  const argv = ['acme', EXAMPLE_KEY, hash, 'hg_5f1d0', 100, API_KEYS_CHANNEL];
  await runScript(redis, { script: scripts.addKey, keys: [API_KEY_TENANTS], argv });
}
