import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../system/support/free-port.js';
import type { TestCertificates } from './certificates.js';
import { endsWithUs } from './ends-with-us.js';
import { tlsArguments } from './redis-server.js';

/** A real Sentinel on loopback. */
export interface TestSentinel {
  readonly port: number;
  stop(): Promise<void>;
}

/** Starts a Sentinel that watches the master on a port; resolves once it accepts connections. */
export async function startSentinel(options: {
  readonly name: string;
  /** The master's. */
  readonly port: number;
  /** Sentinels that have to agree that it is down. */
  readonly quorum: number;
  readonly downAfterMs?: number;
  /** It speaks TLS, and so does the master on its port. */
  readonly tls?: TestCertificates;
}): Promise<TestSentinel> {
  const { name, port: masterPort, quorum, downAfterMs = 3000, tls } = options;
  const dir = await mkdtemp(join(tmpdir(), 'hg-sentinel-'));
  const port = await freePort();
  const file = join(dir, 'sentinel.conf');
  const lines = [
    ...(tls === undefined ? [`port ${port}`] : ['port 0', `tls-port ${port}`, ...linesOf(tlsArguments(tls))]),
    ...['bind 127.0.0.1', `dir ${dir}`],
    `sentinel monitor ${name} 127.0.0.1 ${masterPort} ${quorum}`,
    `sentinel down-after-milliseconds ${name} ${downAfterMs}`,
    `sentinel failover-timeout ${name} 10000`,
  ];
  await writeFile(file, `${lines.join('\n')}\n`);
  const child = endsWithUs(spawn('redis-server', [file, '--sentinel'], { stdio: ['ignore', 'pipe', 'ignore'] }));
  let said = '';
  await new Promise<void>((resolve, reject) => {
    child.stdout.on('data', (chunk) => {
      said += String(chunk);
      if (said.includes('+monitor')) resolve();
    });
    child.once('close', () => reject(new Error(`the Sentinel ended:\n${said}`)));
  });
  child.stdout.removeAllListeners('data').resume();
  return {
    port,
    async stop() {
      if (child.exitCode === null && child.kill('SIGKILL')) await once(child, 'close');
      await rm(dir, { recursive: true, force: true });
    },
  };
}

/** Options of a command line as lines of a file. */
function linesOf(args: readonly string[]): string[] {
  return args.flatMap((arg, i) => (arg.startsWith('--') ? [`${arg.slice(2)} ${args[i + 1] ?? ''}`] : []));
}
