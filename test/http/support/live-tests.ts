import { afterAll, beforeAll, beforeEach, expect } from 'vitest';
import { typeSettings } from '../../../src/shaping/settings.js';
import { WorkSource } from '../../../src/shaping/work-source.js';
import { startRedis, type TestRedis } from '../../support/redis-server.js';
import { type LiveApp, type LiveParts, liveApp } from './live-app.js';

/** What these tests are about: types, tiers and tenants to change. */
export const LIVE_YAML = `
types:
  ocr: { capacity: { rate: 20/s } }
  chat: {}
tiers:
  pro: { rate: 10/s, weight: 4, depth: 100 }
  free: { rate: 1/s }
defaultTier: free
tenants:
  acme: { tier: pro, types: { ocr: { rate: 2/s } } }
  small: {}
`;

/** A Redis for the tests of a file, empty before each, and an API process over it; `parts` replace what they are about. */
export function liveTests(parts: LiveParts = () => ({})) {
  let server: TestRedis | undefined;
  const apps: LiveApp[] = [];
  const start = async (yaml = LIVE_YAML): Promise<LiveApp> => {
    if (server === undefined) throw new Error('no Redis before beforeAll');
    const app = await liveApp(server.socketPath, yaml, parts);
    apps.push(app);
    return app;
  };
  const closeAll = async () => {
    for (const app of apps.splice(0)) await app.close();
  };
  beforeAll(async () => {
    server = await startRedis();
  });
  beforeEach(async () => {
    await closeAll();
    await server?.flush();
    await start();
  });
  afterAll(async () => {
    await closeAll();
    await server?.stop();
  });

  const current = (): LiveApp => {
    const [app] = apps;
    if (app === undefined) throw new Error('no API before beforeEach');
    return app;
  };
  const api = {
    get redis() {
      return current().redis;
    },
    get live() {
      return current().live;
    },
    ask: ((...request) => current().ask(...request)) satisfies LiveApp['ask'],
  };
  return {
    api,
    /** Another process, or this one after a restart. */
    another: start,
    /** Where a worker would get the jobs of a type from. */
    source: (type: string, { redis, settings } = current()) =>
      new WorkSource(redis, type, typeSettings(settings, type), { worker: 'w', lockMs: 30_000 }),
    /** Posts jobs of a tenant and answers what was promised to each. */
    async post(tenant: string, count: number, more: object = {}) {
      const jobs: LiveAnswer[] = [];
      for (let i = 0; i < count; i += 1) {
        const { status, body } = await api.ask('POST', '/v1/jobs', { type: 'ocr', tenant, data: {}, ...more });
        expect(status).toBe(202);
        jobs.push(body);
      }
      return jobs;
    },
    async read(id: unknown, tenant = 'acme', by: Pick<LiveApp, 'ask'> = api): Promise<LiveAnswer> {
      return (await by.ask('GET', `/v1/jobs/${id}?tenant=${tenant}`)).body;
    },
  };
}

type LiveAnswer = Awaited<ReturnType<LiveApp['ask']>>['body'];
