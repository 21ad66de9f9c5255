import type { InjectOptions } from 'fastify';
import type { Config } from '../../../src/config/config.js';
import type { AppParts } from '../../../src/http/app.js';
import { doorOf } from '../../../src/http/door.js';
import type { Policing } from '../../../src/policing/policing.js';
import { routeTable } from '../../../src/policing/route-table.js';
import { type TestApp, testApp } from './test-app.js';
import { configFrom, KEYS } from './test-config.js';

const YAML = `
types:
  chat: { policy: api }
  ocr: { policy: api, cost: { from: data.pages, min: 1, max: 500, default: 1 } }
  llm: { policy: api, cost: { request: { min: 1, max: 1000 }, default: 1 } }
  free: {}
tiers:
  pro: { rate: 5/s, depth: 3 }
  free: { rate: 1/s, depth: 2 }
defaultTier: free
tenants:
  acme: { tier: pro }
policies:
  api:
    rate: 2/m
    burst: 10
    onOutage: open
    byTier: { pro: { rate: 2/m, burst: 100 }, anonymous: { rate: 2/m, burst: 3 } }
  pay: { algorithm: sliding-window-log, limit: 60, window: 1m, onOutage: closed }
  tight: { rate: 1/m, burst: 1, onOutage: local }
  watched: { rate: 1/m, burst: 1, enforce: false }
routes:
  - { method: GET, path: /reports/:id, policy: api, cost: 2 }
  - { path: /files/*, policy: tight }
`;

let loaded: Promise<Config> | undefined;

/** A configuration with policies, through the real loader, read once. */
export function policedConfig(): Promise<Config> {
  loaded ??= configFrom(YAML);
  return loaded;
}

/** The real app with policies that `policing` decides. */
export async function policedApp(policing: Policing, parts: Partial<AppParts> = {}): Promise<TestApp> {
  const config = await policedConfig();
  const policed = { policing, policies: config.policies, routes: routeTable(config.routes) };
  return testApp({ door: doorOf(config), policed, ...parts });
}

/** A question to a policy, with acme's key; a text goes as it is. */
export function check(payload: object | string): InjectOptions {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${KEYS.acme}` };
  return { method: 'POST', url: '/v1/check', payload, headers };
}

/** What a gateway asks on behalf of a client of its own. */
export function forwarded(query: string, options: InjectOptions = {}): InjectOptions {
  const headers = { 'x-headgate-gateway-key': KEYS.gateway, ...options.headers };
  return { url: `/v1/forward-auth${query}`, ...options, headers };
}
