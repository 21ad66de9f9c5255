import { afterAll } from 'vitest';
import { startCluster, type TestCluster } from './redis-cluster.js';

/**
 * `TEST_CLUSTER=1 npx vitest run --project system …` runs suites that name no Redis on a cluster of three masters, of which
 * each file starts one. Those that look into the embedded Redis, or end it, have none then.
 */
const isWanted = process.env.TEST_CLUSTER === '1';

let starting: Promise<TestCluster> | undefined;
let prefixes = 0;

if (isWanted) {
  afterAll(async () => {
    await (await starting?.catch(() => undefined))?.stop();
  });
}

/** What a configuration says of Redis: nothing, or a part of the file's cluster that nobody else uses. */
export async function redisOfSuite(): Promise<{ readonly redis?: object }> {
  if (!isWanted) return {};
  starting ??= startCluster(3);
  const { addresses } = await starting;
  prefixes += 1;
  return { redis: { cluster: addresses.map(({ host, port }) => `${host}:${port}`), keyPrefix: `suite-${prefixes}:` } };
}
