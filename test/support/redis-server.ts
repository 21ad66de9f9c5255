import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis, type RedisOptions } from 'ioredis';
import type { TestCertificates } from './certificates.js';
import { endsWithUs } from './ends-with-us.js';

export interface TestRedisOptions {
  /** Folder of the server's files. Given: it is kept by `stop()`, so that a later server finds the data. Default: a fresh temporary one. */
  dir?: string;
  /** A loopback TCP port beside the socket; `true` picks a free one. Default: no TCP at all. */
  port?: number | true;
  /** Keep an append-only file, so that data survives `kill()` and a new `startRedis({ dir })`. Default: false. */
  appendonly?: boolean;
  /** Further arguments of redis-server, such as `['--maxmemory', '1mb']`. */
  args?: readonly string[];
}

/** A private, real redis-server. `stop()` it in `afterAll`; it also ends with the process that started it. */
export interface TestRedis {
  dir: string;
  /** `<dir>/redis.sock`: the same again when a server is started over the same `dir`. */
  socketPath: string;
  port?: number;
  /** `redis://127.0.0.1:<port>`, when there is a port. */
  url?: string;
  pid: number;
  /** A new connection that `stop()` closes; the caller may close it earlier. */
  client(options?: RedisOptions): Redis;
  /** Deletes all data. Scripts stay loaded. */
  flush(): Promise<void>;
  /** Ends the server, closes all clients that it handed out, and removes a `dir` of its own. May be called twice, and after `kill()`. */
  stop(): Promise<void>;
  /** Ends the server as `kill -9` does. Folder and clients stay, so `startRedis({ dir: server.dir })` is a restart. */
  kill(): Promise<void>;
}

/**
 * Starts a redis-server from PATH on a unix socket and resolves once it answers.
 *
 * @throws Error with the server's output when it ends instead of becoming ready.
 */
export async function startRedis(options: TestRedisOptions = {}): Promise<TestRedis> {
  const dir = options.dir ?? (await mkdtemp(join(tmpdir(), 'hg-redis-')));
  const socketPath = join(dir, 'redis.sock');
  const port = options.port === true ? await freePort() : options.port;
  const child = spawn('redis-server', serverArguments(dir, socketPath, port, options), {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  endsWithUs(child);
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const removeOwnDir = async () => {
    if (options.dir === undefined) await rm(dir, { recursive: true, force: true });
  };
  const pid = await ready(child).catch(async (error: unknown) => {
    await removeOwnDir();
    throw error;
  });

  const clients = new Set<Redis>();
  const client = (extra: RedisOptions = {}): Redis => {
    const redis = new Redis({ path: socketPath, ...extra });
    clients.add(redis);
    redis.once('end', () => clients.delete(redis));
    return redis;
  };
  const kill = async () => {
    child.kill('SIGKILL');
    await ended;
  };
  return {
    dir,
    socketPath,
    pid,
    ...(port === undefined ? {} : { port, url: `redis://127.0.0.1:${port}` }),
    client,
    kill,
    async flush() {
      const redis = new Redis({ path: socketPath });
      await redis.flushall();
      redis.disconnect();
    },
    async stop() {
      for (const redis of clients) redis.disconnect();
      await kill();
      await removeOwnDir();
    },
  };
}

/** Arguments of a server, or lines of a Sentinel, that speaks TLS wherever it speaks to others of its kind. */
export function tlsArguments({ ca, cert, key }: TestCertificates): readonly string[] {
  return [
    ...['--tls-cert-file', cert, '--tls-key-file', key, '--tls-ca-cert-file', ca],
    ...['--tls-auth-clients', 'no', '--tls-replication', 'yes'],
  ];
}

function serverArguments(
  dir: string,
  socketPath: string,
  port: number | undefined,
  options: TestRedisOptions,
): readonly string[] {
  return [
    ...['--port', String(port ?? 0), '--bind', '127.0.0.1'],
    ...['--unixsocket', socketPath, '--dir', dir],
    ...['--save', '', '--appendonly', options.appendonly === true ? 'yes' : 'no', '--appendfsync', 'always'],
    ...(options.args ?? []),
  ];
}

/** Resolves with the pid when the server says that it accepts connections; rejects with its output when it ends first. */
async function ready(child: ChildProcess): Promise<number> {
  let output = '';
  await new Promise<void>((resolve, reject) => {
    const read = (chunk: Buffer) => {
      output += chunk.toString();
      if (/ready to accept connections/i.test(output)) resolve();
    };
    child.stdout?.on('data', read);
    child.stderr?.on('data', read);
    child.once('error', reject);
    child.once('close', (code, signal) => reject(new Error(`redis-server ended (${code ?? signal}):\n${output}`)));
  });
  if (child.pid === undefined) throw new Error('redis-server has no pid');
  // From here on its log is thrown away, but still read, or a full pipe would stop the server.
  for (const stream of [child.stdout, child.stderr]) stream?.removeAllListeners('data').resume();
  return child.pid;
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const address = probe.address();
  probe.close();
  await once(probe, 'close');
  if (address === null || typeof address === 'string') throw new Error('no TCP port could be had');
  return address.port;
}
