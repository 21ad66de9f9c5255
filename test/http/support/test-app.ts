import { Writable } from 'node:stream';
import type { FastifyInstance, InjectOptions, LightMyRequestResponse } from 'fastify';
import { pino } from 'pino';
import { type AppParts, buildApp } from '../../../src/http/app.js';
import { doorOf } from '../../../src/http/door.js';
import { createKeyring } from '../../../src/http/keyring.js';
import type { JobFeed } from '../../../src/shaping/job-feed.js';
import { newJobId } from '../../../src/shaping/job-id.js';
import { scriptedAdministration } from './scripted-administration.js';
import { scriptedShaping } from './scripted-shaping.js';
import { KEY_ENTRIES, KEYS, testConfig } from './test-config.js';

export interface TestApp {
  readonly app: FastifyInstance;
  /** What was logged at `warn` and above. */
  readonly logged: Record<string, unknown>[];
}

/** Has everybody look at the job once, and says nothing after that. */
const SILENT_FEED: JobFeed = {
  watch: (_id, watcher) => {
    void watcher(undefined);
    return () => undefined;
  },
};

/** The real app over the configuration of these tests; `parts` replace what the test is about. */
export async function testApp(parts: Partial<AppParts> = {}): Promise<TestApp> {
  const config = await testConfig();
  const logged: Record<string, unknown>[] = [];
  const sink = new Writable({
    write(line, _encoding, done) {
      logged.push(JSON.parse(String(line)));
      done();
    },
  });
  const app = buildApp({
    shaping: scriptedShaping().shaping,
    door: doorOf(config),
    keyring: createKeyring(KEY_ENTRIES),
    admin: scriptedAdministration(config),
    feed: SILENT_FEED,
    remote: { lockMs: 30_000, type: () => undefined, names: () => [] },
    ready: async () => ({ ready: true, checks: { redis: 'answers' } }),
    log: pino({ level: 'warn' }, sink),
    newJobId: (type) => newJobId(type),
    random: () => 0,
    ...parts,
  });
  return { app, logged };
}

/** A request with a tenant's key; the body, if any, as JSON. */
export function as(key: keyof typeof KEYS, options: InjectOptions): InjectOptions {
  return { ...options, headers: { authorization: `Bearer ${KEYS[key]}`, ...options.headers } };
}

/** A posted job of acme's. */
export function post(payload: object | string, headers: Record<string, string> = {}): InjectOptions {
  const content = { 'content-type': 'application/json', ...headers };
  return as('acme', { method: 'POST', url: '/v1/jobs', payload, headers: content });
}

/** The members of a problem document that tests look at. */
export function problemIn(response: LightMyRequestResponse): Record<string, unknown> {
  if (response.headers['content-type'] !== 'application/problem+json') {
    throw new Error(`${response.statusCode} is no problem document: ${response.body}`);
  }
  return response.json();
}
