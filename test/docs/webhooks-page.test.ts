import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { newWebhookSecret } from '../../src/config/webhook-secret.js';
import { signedHeaders } from '../../workers/webhooks/deliver.js';
import { eventually } from '../support/eventually.js';
import { freePort } from '../system/support/free-port.js';
import { pageSnippet } from './page-snippet.js';

/** Below node_modules, so that the example finds the packages that a program beside it would. */
const FOLDER = fileURLToPath(new URL('../../node_modules/.cache/headgate-docs', import.meta.url));
const BODY = '{"type":"job.completed","data":{"id":"1","result":"schön"}}';

/** Runs a receiver of the page; `act` is given how it answers a request. */
async function receiving(
  program: string,
  snippet: string,
  suffix: string,
  act: (answer: (headers: Record<string, string>, body: string) => Promise<number>, secret: string) => Promise<void>,
): Promise<void> {
  await mkdir(FOLDER, { recursive: true });
  const file = join(FOLDER, `receiver-${process.pid}${suffix}`);
  await writeFile(file, await pageSnippet('webhooks.md', snippet));
  const [port, secret] = [await freePort(), newWebhookSecret()];
  const env = { ...process.env, PORT: String(port), HOOK_SECRET: secret };
  const child = spawn(program, [file], { env, stdio: 'ignore' });
  const closed = once(child, 'close');
  const answer = async (headers: Record<string, string>, body: string): Promise<number> =>
    (await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', headers, body })).status;
  try {
    await eventually(() => answer({}, BODY), { interval: 100 });
    await act(answer, secret);
  } finally {
    child.kill('SIGKILL');
    await closed;
    await rm(file);
  }
}

describe('the receiver of the page', () => {
  test.each([
    ['node', process.execPath, '.mjs'],
    ['python', 'python3', '.py'],
  ])('in %s takes what Headgate signed, and nothing else', async (snippet, program, suffix) => {
    if (spawnSync(program, ['--version']).status !== 0) return;
    await receiving(program, snippet, suffix, async (answer, secret) => {
      const genuine = signedHeaders('msg_1', BODY, secret, new Date());
      expect(await answer(genuine, BODY)).toBe(204);
      expect(await answer(genuine, BODY.replace('1', '2'))).toBe(400);
      expect(await answer({ ...genuine, 'webhook-id': 'msg_2' }, BODY)).toBe(400);
      expect(await answer(signedHeaders('msg_1', BODY, newWebhookSecret(), new Date()), BODY)).toBe(400);
      expect(await answer(signedHeaders('msg_1', BODY, secret, new Date(Date.now() - 600_000)), BODY)).toBe(400);
    });
  });
});
