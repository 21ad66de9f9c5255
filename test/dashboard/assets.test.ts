import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { liveTests } from '../http/support/live-tests.js';
import { withDashboard } from './support/dashboard-parts.js';

const { another } = liveTests(withDashboard);
const PUBLIC = fileURLToPath(new URL('../../src/dashboard/public', import.meta.url));

const KINDS: Readonly<Record<string, string>> = {
  js: 'application/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
  html: 'text/html; charset=utf-8',
};

test('every file of the page is served, as what it is, and nothing may be loaded from elsewhere', async () => {
  const { app } = await another();
  const files = readdirSync(PUBLIC, { recursive: true, encoding: 'utf8' }).filter((name) => /\.\w+$/.test(name));
  expect(files.length).toBeGreaterThan(20);
  const own = files.map((name) => `/dashboard/${name}`);
  for (const url of ['/', ...own, '/dashboard/uplot/uPlot.esm.js', '/dashboard/uplot/uPlot.min.css']) {
    const { statusCode, headers } = await app.inject(url);
    const kind = KINDS[/\.(\w+)$/.exec(url)?.[1] ?? 'html'];
    expect([url, statusCode, headers['content-type'], headers['cache-control']]).toEqual([url, 200, kind, 'no-cache']);
    const policy = String(headers['content-security-policy']).split('; ');
    expect(policy).toEqual(
      expect.arrayContaining(["default-src 'none'", "script-src 'self'", "frame-ancestors 'none'"]),
    );
    expect(policy.join()).not.toMatch(/unsafe|https?:|\*/);
    expect(headers['x-content-type-options']).toBe('nosniff');
  }
});

test('the page writes no script and no style into itself, which its own policy forbids', async () => {
  const { app } = await another();
  const { body } = await app.inject('/');
  expect(body).toContain('<script type="module" src="/dashboard/main.js">');
  expect(body).not.toMatch(/<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=|https?:\/\//);
});

test('a browser that has the latest is told so', async () => {
  const { app } = await another();
  const { headers } = await app.inject('/dashboard/main.js');
  const again = await app.inject({ url: '/dashboard/main.js', headers: { 'if-none-match': String(headers.etag) } });
  expect(again.statusCode).toBe(304);
});

test.each([
  '/dashboard/',
  '/dashboard/gone.js',
  '/dashboard/../package.json',
  '/dashboard/%2e%2e/dashboard.ts',
  '/dashboard/uplot/',
  '/dashboard/pure',
])('%s is nothing', async (url) => {
  const { app } = await another();
  const { statusCode, headers } = await app.inject(url);
  expect([statusCode, headers['content-type']]).toEqual([404, 'application/problem+json']);
});
