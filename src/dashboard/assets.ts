import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fastifyStatic from '@fastify/static';
import type { HttpApp } from '../http/http-app.js';

/** Everything comes from here, nothing is written into the page, and no other page may hold it in a frame. */
const SECURITY = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
    "frame-ancestors 'none'; base-uri 'none'; form-action 'self'",
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  // Files have no version in their names: a browser asks each time whether it has the latest one.
  'cache-control': 'no-cache',
} as const;

/** The page at `/`, and its files, from `public/` beside this and from uPlot's package. */
export async function assetRoutes(app: HttpApp): Promise<void> {
  const folder = publicFolder(dirname(fileURLToPath(import.meta.url)));
  const index = await readFile(join(folder, 'index.html'));
  const uplot = dirname(createRequire(import.meta.url).resolve('uplot'));
  app.addHook('onRequest', async (_request, reply) => void reply.headers(SECURITY));
  app.get('/', { schema: { hide: true } }, async (_request, reply) =>
    reply.type('text/html; charset=utf-8').send(index),
  );
  for (const [root, prefix] of [
    [folder, '/dashboard/'],
    [uplot, '/dashboard/uplot/'],
  ] as const) {
    // Each file is a route: what is not there is answered like any other address.
    await app.register(fastifyStatic, {
      root,
      prefix,
      wildcard: false,
      decorateReply: false,
      index: false,
      cacheControl: false,
    });
  }
}

/** `src/dashboard/public`, of whatever is above: what is compiled lies elsewhere in the package. */
function publicFolder(from: string): string {
  for (let dir = from; dir !== dirname(dir); dir = dirname(dir)) {
    const folder = join(dir, 'src', 'dashboard', 'public');
    if (existsSync(join(folder, 'index.html'))) return folder;
  }
  throw new Error(`no folder src/dashboard/public above ${from}`);
}
