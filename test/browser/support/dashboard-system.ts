import type { HeadgateProcess } from '../../support/headgate-process.js';
import { startRedis, type TestRedis } from '../../support/redis-server.js';
import { startTcpProxy, type TcpProxy } from '../../support/tcp-proxy.js';
import { ADMIN_KEY, type RefereedSystem, refereedSystem } from '../../system/support/refereed-system.js';

export const TENANT_KEY = 'key-of-the-tenant-called-own';

/** The rates at which buckets of the tests leak, per second. */
export const RATES = { acme: 1, rerated: 1, otherwise: 2 } as const;
/** How many jobs may wait in them. */
export const DEPTHS = { acme: 30, still: 5, otherwise: 1000 } as const;

/** A whole Headgate with its dashboard, a network to Redis that can fail, and the referee. */
export interface DashboardSystem {
  readonly system: RefereedSystem;
  readonly proxy: TcpProxy;
  /** The API with its worker, as it runs now. */
  readonly headgate: HeadgateProcess;
  /** Ends it and starts it again at the same address. */
  restart(meanwhile: () => Promise<void>): Promise<void>;
  /** `POST` with the admin key; the status. */
  post(path: string, body: object): Promise<number>;
  end(): Promise<void>;
}

export async function dashboardSystem(): Promise<DashboardSystem> {
  const redis: TestRedis = await startRedis({ appendonly: true });
  const proxy = await startTcpProxy(redis.socketPath);
  const system = await refereedSystem(
    {
      redis: proxy.url,
      types: { ocr: { attempts: 1 }, chat: {} },
      tiers: { only: { rate: `${RATES.otherwise}/s`, burst: 1, depth: DEPTHS.otherwise } },
      defaultTier: 'only',
      tenants: {
        acme: { rate: `${RATES.acme}/s`, depth: DEPTHS.acme },
        still: { depth: DEPTHS.still },
        rerated: { rate: `${RATES.rerated}/s` },
        own: { key: TENANT_KEY },
      },
    },
    {
      separateClocks: true,
      types: [
        { type: 'ocr', slots: 4 },
        { type: 'chat', slots: 2 },
      ],
      buckets: ['ocr', 'chat'].flatMap((type) => [
        { type, tenant: 'acme', ratePerSecond: RATES.acme, burst: 1, depth: DEPTHS.acme },
        { type, tenant: 'rerated', ratePerSecond: RATES.rerated, burst: 1, depth: DEPTHS.otherwise },
      ]),
      otherwise: { ratePerSecond: RATES.otherwise, burst: 1, depth: DEPTHS.otherwise },
    },
    { arrivalMs: 1000, lateMs: 1000 },
  );
  const start = (flags: readonly string[] = []) =>
    system.folder.start('start', ['--concurrency', 'ocr=4,chat=2', ...flags]);
  let headgate = await start();
  return {
    system,
    proxy,
    get headgate() {
      return headgate;
    },
    async restart(meanwhile) {
      const { host } = new URL(headgate.url);
      await headgate.stop();
      await meanwhile();
      headgate = await start(['--listen', host]);
    },
    async post(path, body) {
      const headers = { authorization: `Bearer ${ADMIN_KEY}`, 'content-type': 'application/json' };
      const response = await fetch(`${headgate.url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
      await response.arrayBuffer();
      return response.status;
    },
    async end() {
      await system.end();
      await proxy.stop();
      await redis.stop();
    },
  };
}
