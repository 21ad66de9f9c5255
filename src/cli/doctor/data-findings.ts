import type { Config } from '../../config/config.js';
import { closeConnection, openConnection, untilTried } from '../../redis/connection.js';
import { isPassing } from '../../redis/outage.js';
import type { ClusterTarget, RedisTarget } from '../../redis/redis-target.js';
import { configSettings } from '../../shaping/config-settings.js';
import { OtherData, refuseOtherData, storedTypes } from '../../shaping/stored-data.js';
import type { Finding } from './finding.js';

/** What is to be said of the jobs that a Redis holds which answers, where this version cannot go on with them. Writes nothing. */
export async function dataFindings(
  config: Config,
  target: RedisTarget | ClusterTarget,
  withinMs: number,
): Promise<Finding[]> {
  const redis = openConnection(target, { name: 'doctor', deadlineMs: withinMs });
  try {
    await untilTried(redis, withinMs);
    await refuseOtherData(redis, storedTypes(configSettings(config)), config.shards);
    return [];
  } catch (error) {
    // What keeps Redis from answering is a finding of its own.
    if (!(error instanceof OtherData)) {
      if (isPassing(error)) return [];
      throw error;
    }
    const mend = error.isOlder
      ? 'end all older processes, then run `headgate migrate`'
      : 'correct `shards`, or use the version of Headgate that wrote the data';
    return [{ about: 'data', level: 'fault', says: error.message, mend }];
  } finally {
    closeConnection(redis);
  }
}
