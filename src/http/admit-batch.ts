import type { Admission } from '../model/verdict.js';
import { RedisUnavailable } from '../redis/outage.js';
import type { DoorAnswer, Shaping } from '../shaping/shaping.js';
import type { JobAtDoor } from './read-job.js';

/** What became of one item: a verdict, or nobody knows, because Redis was away when its bucket's turn came. */
export type Outcome =
  | { readonly kind: 'verdict'; readonly atDoor: JobAtDoor; readonly admission: Admission }
  | { readonly kind: 'outage'; readonly atDoor: JobAtDoor };

export interface BatchOutcome {
  /** One per item, in their order. */
  readonly outcomes: readonly Outcome[];
  /** The room left in each bucket that answered. */
  readonly rooms: readonly Pick<DoorAnswer, 'depth' | 'freePlaces'>[];
}

interface Group {
  readonly type: string;
  readonly tenant: string;
  readonly indexes: number[];
  readonly items: JobAtDoor[];
}

/** Admits sound items: one atomic call per bucket, in the given order within it. */
export async function admitBatch(shaping: Shaping, items: readonly JobAtDoor[]): Promise<BatchOutcome> {
  const outcomes: Outcome[] = items.map((atDoor) => ({ kind: 'outage', atDoor }));
  const rooms: BatchOutcome['rooms'][number][] = [];
  await Promise.all(
    byBucket(items).map(async ({ type, tenant, indexes, items: group }) => {
      const answer = await unlessOutage(
        shaping.admit(
          type,
          tenant,
          group.map(({ job }) => job),
        ),
      );
      if (answer === undefined) return;
      rooms.push(answer);
      for (const [place, atDoor] of group.entries()) {
        const [admission, index] = [answer.admissions[place], indexes[place]];
        if (admission === undefined || index === undefined) throw new Error(`no verdict on job ${atDoor.job.id}`);
        outcomes[index] = { kind: 'verdict', atDoor, admission };
      }
    }),
  );
  return { outcomes, rooms };
}

function byBucket(items: readonly JobAtDoor[]): readonly Group[] {
  const groups = new Map<string, Group>();
  for (const [index, item] of items.entries()) {
    const { type, tenant } = item;
    const bucket = JSON.stringify([type, tenant]);
    const group = groups.get(bucket) ?? { type, tenant, indexes: [], items: [] };
    group.indexes.push(index);
    group.items.push(item);
    groups.set(bucket, group);
  }
  return [...groups.values()];
}

async function unlessOutage<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof RedisUnavailable) return undefined;
    throw error;
  }
}
