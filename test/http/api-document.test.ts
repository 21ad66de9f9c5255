import { Validator } from '@seriousme/openapi-schema-validator';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PROBLEMS } from '../../src/http/problems.js';
import { type TestApp, testApp } from './support/test-app.js';

let api: TestApp;
let document: { paths: Record<string, Record<string, { security?: unknown; responses: Record<string, unknown> }>> };
const routes: string[] = [];

beforeAll(async () => {
  api = await testApp({ document: { version: '1.2.3' } });
  api.app.addHook('onRoute', ({ method, url }) => {
    if (url.startsWith('/docs')) return;
    for (const each of [method].flat()) routes.push(`${each.toLowerCase()} ${url.replace(/:(\w+)/g, '{$1}')}`);
  });
  await api.app.ready();
  const response = await api.app.inject('/docs/json');
  expect(response.statusCode).toBe(200);
  document = response.json();
});
afterAll(() => api.app.close());

test('the document is a valid one of OpenAPI 3.1', async () => {
  const result = await new Validator().validate(structuredClone(document));
  expect(result.errors ?? []).toEqual([]);
  expect(result.valid).toBe(true);
  expect(document).toMatchObject({ openapi: '3.1.0', info: { title: 'Headgate', version: '1.2.3' } });
});

test('it has every route, with its problems, and no other', () => {
  const described = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.keys(item).map((each) => `${each} ${path}`),
  );
  const known = new Set(['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace']);
  const expected = routes.filter((route) => known.has(route.split(' ')[0] ?? '') && !route.startsWith('head '));
  expect(described.filter((route) => !route.startsWith('head ')).toSorted()).toEqual([...new Set(expected)].toSorted());
  expect(described.length).toBeGreaterThan(30);
  for (const [path, item] of Object.entries(document.paths)) {
    if (!path.startsWith('/v1')) continue;
    for (const { responses } of Object.values(item))
      expect(Object.keys(responses)).toEqual(expect.arrayContaining(['4XX', '5XX']));
  }
});

test('it has every code of a problem, and says where no key is needed', () => {
  const text = JSON.stringify(document);
  expect(Object.keys(PROBLEMS).filter((code) => !text.includes(`"${code}"`))).toEqual([]);
  expect(document.paths['/healthz']?.get?.security).toEqual([]);
  expect(document.paths['/v1/jobs']?.post?.security).toBeUndefined();
});

test('the page at /docs, and all that it loads, comes from here', async () => {
  const page = await api.app.inject('/docs/');
  expect([page.statusCode, page.headers['content-type']]).toEqual([200, expect.stringContaining('text/html')]);
  const loaded = [...page.body.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, url = '']) => url);
  expect(loaded.length).toBeGreaterThan(3);
  for (const url of loaded) {
    expect(url).not.toMatch(/^(https?:)?\/\//);
    expect((await api.app.inject(new URL(url, 'http://localhost/docs/').pathname)).statusCode).toBe(200);
  }
});
