import { HeadgateFolder, type HeadgateProcess } from '../../test/support/headgate-process.js';

export const ADMIN_KEY = 'admin-key-of-the-bench';
export const TENANT_KEY = 'tenant-key-of-the-bench';
export const TENANT = 'acme';

/** One API process as it is installed, on a Redis that is there, and a worker process on demand. */
export interface ServedApi {
  readonly api: HeadgateProcess;
  startWorker(slots: number): Promise<HeadgateProcess>;
  stop(): Promise<void>;
}

/** Starts it. A tenant's jobs leave at `rate`, as the configuration writes it; nothing else holds them back. */
export async function serveApi(socketPath: string, rate: string): Promise<ServedApi> {
  const folder = await HeadgateFolder.create({
    redis: socketPath,
    admin: { keys: [ADMIN_KEY] },
    types: { bench: { handler: 'echo' } },
    tiers: { wide: { rate, burst: 1, depth: 10_000_000, maxBytes: '100GB' } },
    defaultTier: 'wide',
    tenants: { [TENANT]: { key: TENANT_KEY } },
  });
  const api = await folder.start('serve');
  return {
    api,
    startWorker: (slots) => folder.start('work', ['--concurrency', `bench=${slots}`]),
    stop: () => folder.remove(),
  };
}

/** Headers of a request with JSON in it. */
export function headersOf(key: string): Record<string, string> {
  return { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
}
