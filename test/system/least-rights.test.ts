import { startRedis } from '../support/redis-server.js';
import { leastRightsSuite } from './support/least-rights-suite.js';

leastRightsSuite(async () => {
  const redis = await startRedis({ port: true });
  return { redis: { url: redis.url }, further: [], roots: [redis.client()], stop: () => redis.stop() };
});
