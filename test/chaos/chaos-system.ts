import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findOnPath } from '../../src/redis/embedded/find-on-path.js';
import { mendAppendOnly } from '../../src/redis/embedded/mend-append-only.js';
import type { Witness } from '../referee/witness.js';
import type { HeadgateProcess } from '../support/headgate-process.js';
import { startRedis, type TestRedis } from '../support/redis-server.js';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.js';
import { type FakeClock, fakeClock, withEnvironment } from '../system/support/fake-clock.js';
import { freePort } from '../system/support/free-port.js';
import { type RefereedSystem, refereedSystem } from '../system/support/refereed-system.js';
import type { PowerCut } from './power-cut.js';
import { type SyncWatch, watchSyncs } from './synced-bytes.js';
import { APIS, CONTRACT, configOf, SLOTS, TOLERANCES, WORKERS } from './terms.js';

export type Durability = 'always' | 'everysec';

/** Which files a dead Redis finds again. */
export interface ChaosOptions {
  readonly durability: Durability;
  /** Whether its file is cut back to what was synced, as a power cut would. */
  readonly cut: boolean;
}

/** How far a wall clock that counts whole milliseconds may be behind. */
const WALL_CLOCK_STEP_MS = 1;

const SLOT_FLAGS = Object.entries(SLOTS)
  .map(([type, slots]) => `${type}=${slots}`)
  .join();

/** Two APIs, three workers, a Redis and the network in between, each of which can be broken and made whole again. */
export class ChaosSystem {
  readonly refereed: RefereedSystem;
  readonly proxy: TcpProxy;
  readonly apis: HeadgateProcess[] = [];
  readonly workers: HeadgateProcess[] = [];
  /** The wall clock of the last worker. */
  readonly clock: FakeClock;
  redis: TestRedis;
  /** What power cuts have taken so far. */
  readonly cuts: PowerCut[] = [];
  readonly #options: ChaosOptions;
  readonly #dir: string;
  readonly #ports: readonly number[];
  #syncs: SyncWatch | undefined;

  private constructor(parts: {
    refereed: RefereedSystem;
    proxy: TcpProxy;
    redis: TestRedis;
    clock: FakeClock;
    options: ChaosOptions;
    dir: string;
    ports: readonly number[];
  }) {
    this.refereed = parts.refereed;
    this.proxy = parts.proxy;
    this.redis = parts.redis;
    this.clock = parts.clock;
    this.#options = parts.options;
    this.#dir = parts.dir;
    this.#ports = parts.ports;
  }

  static async start(options: ChaosOptions): Promise<ChaosSystem> {
    const dir = await mkdtemp(join(tmpdir(), 'hg-chaos-'));
    const redis = await startRedis(redisOptions(dir, options));
    const proxy = await startTcpProxy(redis.socketPath);
    const refereed = await refereedSystem(configOf(proxy.url), CONTRACT, TOLERANCES);
    const ports = await Promise.all(Array.from({ length: APIS }, freePort));
    const clock = await fakeClock();
    const system = new ChaosSystem({ refereed, proxy, redis, clock, options, dir, ports });
    await system.#watch();
    for (let each = 0; each < APIS; each += 1) await system.startApi(each);
    for (let each = 0; each < WORKERS; each += 1) await system.startWorker(each);
    return system;
  }

  get urls(): readonly string[] {
    return this.#ports.map((port) => `http://127.0.0.1:${port}`);
  }

  witnesses(): Witness[] {
    return this.urls.map((url) => this.refereed.witness(url));
  }

  async startApi(which: number): Promise<void> {
    const started = this.refereed.folder.spawn('serve', ['--listen', `127.0.0.1:${this.#ports[which]}`]);
    this.apis[which] = started;
    await started.untilReady();
  }

  async startWorker(which: number): Promise<void> {
    const env = which === WORKERS - 1 ? this.clock.env : {};
    const spawn = async () => this.refereed.folder.spawn('work', ['--concurrency', SLOT_FLAGS]);
    const started = await withEnvironment(env, spawn);
    this.workers[which] = started;
    await started.untilReady();
  }

  /** Kill -9, and what the disk would have lost goes too when that was asked for. */
  async killRedis(): Promise<void> {
    const { referee } = this.refereed;
    await this.redis.kill();
    const deadAt = referee.now();
    if (this.#syncs === undefined) return;
    const { bytes, safeAt, slowMs } = await this.#syncs.cut();
    const wallAhead = Date.now() - referee.now();
    this.cuts.push({ bytes, safeAt: safeAt - wallAhead - WALL_CLOCK_STEP_MS, deadAt, slowMs });
    await mend(this.#dir);
  }

  /** Starts it over the data of the one that was killed. */
  async startRedisAgain(): Promise<void> {
    if (this.#syncs !== undefined) await this.proxy.refuse();
    this.redis = await startRedis(redisOptions(this.#dir, this.#options));
    await this.#watch();
    await this.proxy.pass();
  }

  async end(): Promise<void> {
    await this.refereed.end();
    await this.proxy.stop();
    await this.redis.stop();
    await this.clock.remove();
    await rm(this.#dir, { recursive: true, force: true });
  }

  /** Before anybody writes to it. */
  async #watch(): Promise<void> {
    this.#syncs = this.#options.cut ? await watchSyncs(this.#dir, this.redis.pid) : undefined;
  }
}

/** What the embedded server does before it loads a file that a power cut tore. Nobody else has this folder. */
async function mend(dir: string): Promise<void> {
  const path = process.env.PATH ?? '';
  const server = await findOnPath('redis-server', path);
  if (server === undefined) throw new Error('no redis-server on PATH');
  const mended = await mendAppendOnly(server, dir, path, ([program = '', ...args]) => [program, ...args]);
  if (mended.outcome !== 'mended') throw new Error(`the append-only file was not mended: ${JSON.stringify(mended)}`);
}

function redisOptions(dir: string, { durability }: ChaosOptions) {
  // One file that only grows: what was synced of it is then one number.
  const args = ['--appendfsync', durability, '--auto-aof-rewrite-percentage', '0', '--aof-load-truncated', 'no'];
  return { dir, appendonly: true, args: [...args, '--maxmemory-policy', 'noeviction'] };
}
