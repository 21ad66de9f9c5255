import type { Node } from '../../../src/http/described/describe-operation.js';
import { testApp } from './test-app.js';

/** The OpenAPI document of all routes. */
export async function apiDocument(): Promise<Node> {
  const { app } = await testApp({ document: { version: '1.2.3' } });
  await app.ready();
  const document = (await app.inject('/docs/json')).json<Node>();
  await app.close();
  return document;
}
