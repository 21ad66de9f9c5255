import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { startRedis } from '../support/redis-server.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** Below node_modules, so that an example finds the packages that a program beside it would. */
const FOLDER = join(ROOT, 'node_modules', '.cache', 'headgate-docs');
const EXAMPLE = /^```ts\n([\s\S]*?)^```\n\nprints\n\n```\n([\s\S]*?)^```$/m;

/** An example of a page, and what the page says that it prints. */
interface PageExample {
  readonly code: string;
  readonly prints: string;
}

/** The example of docs/`page` that follows `<!-- example: name -->`. */
export async function pageExample(page: string, name: string): Promise<PageExample> {
  const [, rest = ''] = (await readFile(join(ROOT, 'docs', page), 'utf8')).split(`<!-- example: ${name} -->`);
  const [, code, prints] = EXAMPLE.exec(rest) ?? [];
  if (code === undefined || prints === undefined) throw new Error(`docs/${page} has no example ${name}`);
  return { code, prints };
}

/** Runs an example as a program of its own, in which `headgate` is this source. Resolves with what it printed. */
export async function runExample({ code }: PageExample, name: string, env: NodeJS.ProcessEnv): Promise<string> {
  await mkdir(FOLDER, { recursive: true });
  const file = join(FOLDER, `${name}-${process.pid}.ts`);
  await writeFile(file, code);
  const child = spawn(process.execPath, [join(ROOT, 'node_modules', 'jiti', 'lib', 'jiti-cli.mjs'), file], {
    env: {
      ...process.env,
      NO_COLOR: '1',
      JITI_ALIAS: JSON.stringify({
        'headgate/client': join(ROOT, 'src/client/index.ts'),
        'headgate/fastify': join(ROOT, 'src/plugins/fastify.ts'),
        'headgate/express': join(ROOT, 'src/plugins/express.ts'),
        headgate: join(ROOT, 'src/index.ts'),
      }),
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [printed, complaints, [exitCode]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ]);
  await rm(file);
  if (exitCode !== 0) throw new Error(`the example ended with ${exitCode}:\n${complaints}`);
  return printed;
}

/** Runs an example of docs/`page` on a private Redis and holds what it prints against what the page says. */
export async function examplePrints(page: string, name: string): Promise<void> {
  const redis = await startRedis({ port: true });
  const folder = await mkdtemp(join(tmpdir(), 'hg-docs-'));
  const config = join(folder, 'headgate.yaml');
  await writeFile(config, 'types: { echo: { handler: echo } }\ntiers: { default: { depth: 3 } }\n');
  try {
    const example = await pageExample(page, name);
    const env = { REDIS_URL: redis.url, HEADGATE_CONFIG: config };
    expect(await runExample(example, name, env)).toBe(example.prints);
  } finally {
    await redis.stop();
    await rm(folder, { recursive: true });
  }
}
