import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { debianProgram } from '../../support/debian-program.js';
import { endsWithUs } from '../../support/ends-with-us.js';

/** A real nginx over a folder of its own. `stop()` it in `afterAll`; it also ends with the process that started it. */
export interface Nginx {
  stop(): Promise<void>;
}

/**
 * Starts nginx and resolves once it listens.
 *
 * @param http What stands inside `http { … }`.
 * @throws Error with what nginx wrote when it ends instead.
 */
export function startNginx(http: string): Promise<Nginx> {
  return startWholeNginx(() => mainConfig(http));
}

/**
 * The same with a configuration of its own, which logs to standard error from `notice` on. What `-g` adds has to be missing in it.
 *
 * @param config The whole file; it is told the folder that nginx may write to.
 */
export async function startWholeNginx(config: (folder: string) => string): Promise<Nginx> {
  const program = await debianProgram('nginx');
  const prefix = await mkdtemp(join(tmpdir(), 'hg-nginx-'));
  const file = join(prefix, 'nginx.conf');
  await writeFile(file, config(prefix));
  const globally = `daemon off; user ${userInfo().username};`;
  const args = ['-p', prefix, '-c', file, '-e', 'stderr', '-g', globally];
  const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  // SIGTERM, since its workers end with the master alone by that.
  endsWithUs(child, 'SIGTERM');
  const ended = once(child, 'close').then(() => rm(prefix, { recursive: true, force: true }));
  let said = '';
  await new Promise<void>((resolve, reject) => {
    child.stderr.on('data', (chunk) => {
      said += String(chunk);
      if (/start worker process \d+/.test(said)) resolve();
    });
    child.once('error', reject);
    child.once('close', (code) => reject(new Error(`nginx ended (${code}):\n${said}`)));
  });
  return {
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

/** Everything that nginx writes goes below its prefix, or to standard error. */
function mainConfig(http: string): string {
  const folders = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  return `
worker_processes 1;
pid nginx.pid;
error_log stderr notice;
events {}
http {
    access_log off;
    ${folders.map((name) => `${name}_temp_path temp_${name};`).join('\n    ')}
${http}
}
`;
}
