import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import * as library from '../../src/index.js';
import { startRedis } from '../support/redis-server.js';
import { pageExample, runExample } from './page-example.js';

test('every function and class on the page is exported', async () => {
  const page = await readFile(new URL('../../docs/library.md', import.meta.url), 'utf8');
  const rows = [...page.matchAll(/^\| (`.*`) \| /gm)].map(([, names = '']) => names);
  const values = rows.flatMap((names) => names.split(', ')).map((name) => name.slice(1, -1));
  const types = ['Settings'];
  const missing = values.filter((name) => !(name in library) && !types.includes(name));
  expect(values.length).toBeGreaterThan(15);
  expect(missing).toEqual([]);
});

test('the example of the page prints what the page says', async () => {
  const redis = await startRedis({ port: true });
  const folder = await mkdtemp(join(tmpdir(), 'hg-docs-'));
  const config = join(folder, 'headgate.yaml');
  await writeFile(config, 'types: { echo: { handler: echo } }\ntiers: { default: { depth: 3 } }\n');
  try {
    const example = await pageExample('library.md', 'library');
    const env = { REDIS_URL: redis.url, HEADGATE_CONFIG: config };
    expect(await runExample(example, 'library', env)).toBe(example.prints);
  } finally {
    await redis.stop();
    await rm(folder, { recursive: true });
  }
}, 180_000);
