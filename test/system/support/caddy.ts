import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { debianProgram } from '../../support/debian-program.js';
import { endsWithUs } from '../../support/ends-with-us.js';

/** A real Caddy over a folder of its own. `stop()` it in `afterAll`; it also ends with the process that started it. */
export interface Caddy {
  stop(): Promise<void>;
}

/**
 * Starts Caddy and resolves once it listens.
 *
 * @param sites Its Caddyfile, but for the options of the whole server.
 * @throws Error with what Caddy wrote when it ends instead.
 */
export async function startCaddy(sites: string): Promise<Caddy> {
  const program = await debianProgram('caddy');
  const dir = await mkdtemp(join(tmpdir(), 'hg-caddy-'));
  const file = join(dir, 'Caddyfile');
  await writeFile(file, `{\n\tadmin off\n\tauto_https off\n}\n${sites}`);
  const child = spawn(program, ['run', '--config', file, '--adapter', 'caddyfile'], {
    env: { ...process.env, HOME: dir, XDG_CONFIG_HOME: dir, XDG_DATA_HOME: dir },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  endsWithUs(child);
  const ended = once(child, 'close').then(() => rm(dir, { recursive: true, force: true }));
  let said = '';
  await new Promise<void>((resolve, reject) => {
    child.stderr.on('data', (chunk) => {
      said += String(chunk);
      if (said.includes('serving initial configuration')) resolve();
    });
    child.once('error', reject);
    child.once('close', (code) => reject(new Error(`caddy ended (${code}):\n${said}`)));
  });
  return {
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}
