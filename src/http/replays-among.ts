import type { Decision } from '../policing/policing.js';
import { RedisUnavailable } from '../redis/outage.js';
import type { Shaping } from '../shaping/shaping.js';
import { byBucket } from './by-bucket.js';
import type { JobAtDoor } from './read-job.js';

/** A job at the door, and what the policy of its type says of it. */
export interface PolicedJob {
  readonly atDoor: JobAtDoor;
  readonly decision: Decision | undefined;
}

/**
 * Those of the jobs that their policies refuse which are there already under their idempotency keys: at the door that
 * comes before the policy, and whoever repeats a request gets its answer. One read for each bucket, and none where no
 * refused job has a key. Where Redis is away the refusal stands.
 */
export async function replaysAmong<Job extends PolicedJob>(
  shaping: Pick<Shaping, 'knows'>,
  jobs: readonly Job[],
): Promise<ReadonlySet<Job>> {
  const refused = jobs.flatMap((job) => {
    const { idempotencyKey: key } = job.atDoor.job;
    const mayBeKnown = job.decision?.allowed === false && job.decision.outcome !== 'unknown';
    return mayBeKnown && key !== undefined ? [{ atDoor: job.atDoor, job, key }] : [];
  });
  const replays = new Set<Job>();
  await Promise.all(
    byBucket(refused).map(async (group) => {
      const [{ atDoor }] = group;
      const known = await knownKeys(
        shaping,
        atDoor,
        group.map(({ key }) => key),
      );
      for (const [place, { job }] of group.entries()) if (known[place] === true) replays.add(job);
    }),
  );
  return replays;
}

async function knownKeys(
  shaping: Pick<Shaping, 'knows'>,
  { type, tenant }: JobAtDoor,
  keys: readonly string[],
): Promise<readonly boolean[]> {
  try {
    return await shaping.knows(type, tenant, keys);
  } catch (error) {
    if (error instanceof RedisUnavailable) return [];
    throw error;
  }
}
