import { readFile } from 'node:fs/promises';
import type { RouteOptions } from 'fastify';
import { expect, test } from 'vitest';
import { CheckRequest } from '../../src/http/check-request.js';
import { CHECK_BYTES, DEFAULT_HTTP_LIMITS, ENVELOPE_BYTES } from '../../src/http/http-limits.js';
import { BatchItem } from '../../src/http/job-request.js';
import { PROBLEMS } from '../../src/http/problems.js';
import { DEEPEST } from '../../src/http/read-json.js';
import { testApp } from './support/test-app.js';

const PAGE = '../../docs/http.md';
const page = await readFile(new URL(PAGE, import.meta.url), 'utf8');

test('docs/http.md has every error code and every field of a job and a check, word for word', async () => {
  const tables = { 'error codes': errorCodes(), 'job fields': jobFields(), 'check fields': fieldTable(CheckRequest) };
  const filled = Object.entries(tables).reduce((text, [name, table]) => filledIn(text, name, table), page);
  await expect(filled).toMatchFileSnapshot(PAGE);
});

test('every route stands on the page, and the page has no other', async () => {
  const routes = (await routesOfTheApi()).map(({ method, url }) => `${Array.isArray(method) ? 'ANY' : method} ${url}`);
  const documented = [...page.matchAll(/^### `(.*)`$/gm)].map(([, route]) => route);
  expect(documented.toSorted()).toEqual([...routes, 'GET /', 'GET /healthz', 'GET /metrics', 'GET /readyz'].toSorted());
});

test('every route has schemas of its query, its answers and its problems', async () => {
  for (const { method, url, schema } of await routesOfTheApi()) {
    expect(schema, `${method} ${url}`).toMatchObject({
      querystring: expect.objectContaining({ additionalProperties: false }),
      response: { '4xx': expect.anything(), '5xx': expect.anything() },
    });
    if (method === 'POST') expect(schema).toHaveProperty('body.additionalProperties', false);
  }
});

test('the limits on the page are the limits', () => {
  const { headerBytes, headerCount, headersTimeoutMs, requestTimeoutMs, batchBytes } = DEFAULT_HTTP_LIMITS;
  expect(page).toContain(`| ${headerBytes / 1024} KB, ${headerCount} of them |`);
  expect(page).toContain(`| Time until the headers are complete | ${headersTimeoutMs / 1000} s |`);
  expect(page).toContain(`| Time until the body is complete | ${requestTimeoutMs / 1000} s |`);
  expect(page).toContain(`| ${batchBytes / 1024 / 1024} MB, or that of a job where it is more |`);
  expect(page).toContain(`| ${(CHECK_BYTES - ENVELOPE_BYTES) / 1024 / 1024} MB and ${ENVELOPE_BYTES / 1024} KB |`);
  expect(page).toContain(`| Arrays and objects inside one another | ${DEEPEST} |`);
});

function errorCodes(): string {
  const rows = Object.entries(PROBLEMS).map(
    ([code, { status, title, retryHelps }]) => `| ${status} | \`${code}\` | ${title} | ${retryHelps ? 'yes' : 'no'} |`,
  );
  return ['| Status | Code | Meaning | Retry |', '|---|---|---|---|', ...rows].join('\n');
}

function jobFields(): string {
  return fieldTable(BatchItem)
    .split('\n')
    .filter((row) => !row.includes('`idempotencyKey`'))
    .join('\n');
}

interface Fields {
  readonly properties: Readonly<Record<string, object>>;
  readonly required?: readonly string[];
}

function fieldTable({ properties, required }: Fields): string {
  const rows = Object.entries(properties).map(([name, schema]) => {
    const { description, default: value } = { default: undefined, description: '', ...schema };
    const isRequired = required?.includes(name) === true;
    return `| \`${name}\` | ${isRequired ? 'required' : (value ?? '')} | ${description} |`;
  });
  return ['| Field | Default | Must be |', '|---|---|---|', ...rows].join('\n');
}

function filledIn(text: string, name: string, table: string): string {
  const [before, rest] = text.split(`<!-- table: ${name} -->`);
  if (before === undefined || rest === undefined) throw new Error(`the page has no place for ${name}`);
  return `${before}<!-- table: ${name} -->\n\n${table}\n\n${rest.slice(rest.indexOf('<!-- end -->'))}`;
}

/** The routes under /v1, without those that Fastify adds for HEAD. */
async function routesOfTheApi(): Promise<readonly RouteOptions[]> {
  const { app } = await testApp();
  const routes: RouteOptions[] = [];
  app.addHook('onRoute', (route) => {
    if (route.method !== 'HEAD' && route.url.startsWith('/v1/')) routes.push(route);
  });
  await app.ready();
  return routes;
}
