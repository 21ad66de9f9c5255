import type { Admission } from '../model/verdict.js';
import type { Decision } from '../policing/policing.js';
import { RedisFull, RedisUnavailable } from '../redis/outage.js';
import type { DoorAnswer, Shaping } from '../shaping/shaping.js';
import { type BucketGroup, byBucket } from './by-bucket.js';
import type { RouteParts } from './http-app.js';
import { giveBackUnlessAdded, policeJob } from './police-job.js';
import type { JobAtDoor } from './read-job.js';
import { replaysAmong } from './replays-among.js';

/**
 * What became of one item: a verdict of its bucket; a refusal by the policy of its type; nothing, because Redis
 * was full; or nobody knows, because it was away when its bucket's turn came.
 */
export type Outcome =
  | { readonly kind: 'verdict'; readonly atDoor: JobAtDoor; readonly admission: Admission }
  | { readonly kind: 'policed'; readonly atDoor: JobAtDoor; readonly decision: Decision }
  | { readonly kind: 'full'; readonly atDoor: JobAtDoor }
  | { readonly kind: 'outage'; readonly atDoor: JobAtDoor };

export interface BatchOutcome {
  /** One per item, in their order. */
  readonly outcomes: readonly Outcome[];
  /** The room left in each bucket that answered. */
  readonly rooms: readonly Pick<DoorAnswer, 'depth' | 'freePlaces'>[];
}

interface Item {
  readonly index: number;
  readonly atDoor: JobAtDoor;
  /** By the policy of its type, if it has one. */
  readonly decision: Decision | undefined;
}

/** Admits sound items that their policies let pass: a prefix of each bucket's, in the given order within it. */
export async function admitBatch(
  parts: Pick<RouteParts, 'shaping' | 'keeper' | 'policed'>,
  jobs: readonly JobAtDoor[],
): Promise<BatchOutcome> {
  const outcomes: Outcome[] = jobs.map((atDoor) => ({ kind: 'outage', atDoor }));
  const rooms: BatchOutcome['rooms'][number][] = [];
  const items = await policedItems(parts, jobs);
  const replays = await replaysAmong(parts.shaping, items);
  const passed: Item[] = [];
  for (const item of items) {
    const { index, atDoor, decision } = item;
    if (decision === undefined || decision.allowed || replays.has(item)) passed.push(item);
    else outcomes[index] = { kind: 'policed', atDoor, decision };
  }
  await Promise.all(
    byBucket(passed).map(async (group) => {
      const answer = await admitGroup(parts.shaping, group);
      if (typeof answer === 'object') rooms.push(answer);
      for (const [place, { index, atDoor, decision }] of group.entries()) {
        const admission = typeof answer === 'object' ? answer.admissions[place] : undefined;
        if (admission === undefined) {
          outcomes[index] = { kind: answer === 'outage' ? 'outage' : 'full', atDoor };
          continue;
        }
        await giveBackUnlessAdded(decision, admission);
        outcomes[index] = { kind: 'verdict', atDoor, admission };
      }
    }),
  );
  return { outcomes, rooms };
}

/** Questions that are under way at once: more of them would only wait for each other, and might miss their deadline. */
const QUESTIONS = 32;

async function policedItems(
  parts: Pick<RouteParts, 'keeper' | 'policed'>,
  jobs: readonly JobAtDoor[],
): Promise<readonly Item[]> {
  const items: Item[] = [];
  for (let first = 0; first < jobs.length; first += QUESTIONS) {
    const asked = jobs.slice(first, first + QUESTIONS);
    const decisions = await Promise.all(asked.map((atDoor) => policeJob(parts, atDoor)));
    for (const [place, atDoor] of asked.entries()) {
      items.push({ index: first + place, atDoor, decision: decisions[place] });
    }
  }
  return items;
}

/** The verdicts on the first of its jobs, as many as Redis had room to look at. */
async function admitGroup(shaping: Shaping, group: BucketGroup<Item>): Promise<DoorAnswer | 'full' | 'outage'> {
  const [{ atDoor }] = group;
  try {
    return await shaping.admit(
      atDoor.type,
      atDoor.tenant,
      group.map(({ atDoor: { job } }) => job),
    );
  } catch (error) {
    if (error instanceof RedisFull) return 'full';
    if (error instanceof RedisUnavailable) return 'outage';
    throw error;
  }
}
