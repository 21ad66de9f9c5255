import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { loadConfig } from '../../src/config/load-config.js';
import { examplePrints } from './page-example.js';
import { pageSnippet } from './page-snippet.js';

test.each(['fastify', 'express'])(
  'the example of %s prints what the page says',
  (name) => examplePrints('plugins.md', name),
  180_000,
);

test('the configuration on the page about gateways is one', async () => {
  const cwd = await mkdtemp(join(tmpdir(), 'hg-docs-'));
  await writeFile(join(cwd, 'headgate.yaml'), await pageSnippet('forward-auth.md', 'headgate'));
  const { gateways, policies, trustProxy } = await loadConfig({ cwd, env: { GATEWAY_KEY: 'a-key-of-the-gateway' } });
  expect(gateways.keys).toEqual(['a-key-of-the-gateway']);
  expect([...policies.keys()]).toEqual(['api']);
  expect(trustProxy).not.toBe(false);
  await rm(cwd, { recursive: true });
});
