import { environment } from '../config/environment.js';
import { loadConfig } from '../config/load-config.js';
import type { WorkerOrder } from '../config/worker-order.js';
import { stopEmbeddedRedis } from '../redis/embedded/embedded-redis.js';

/** Ends the embedded Redis of the data folder that the configuration names; the data stays. */
export async function stopRedis(
  load: WorkerOrder['load'],
): Promise<{ outcome: 'stopped' | 'not running'; dataDir: string }> {
  const { dataDir } = await loadConfig({ env: environment().variables, cwd: process.cwd(), ...load });
  return { outcome: await stopEmbeddedRedis(dataDir), dataDir };
}
