import type { JobAtDoor } from './read-job.js';

/** One or more of what stands before the same bucket. */
export type BucketGroup<Each> = readonly [Each, ...Each[]];

/** Groups by the bucket of the job, in the order in which each first comes. */
export function byBucket<Each extends { readonly atDoor: Pick<JobAtDoor, 'type' | 'tenant'> }>(
  items: readonly Each[],
): readonly BucketGroup<Each>[] {
  const groups = new Map<string, [Each, ...Each[]]>();
  for (const item of items) {
    const { type, tenant } = item.atDoor;
    const bucket = JSON.stringify([type, tenant]);
    const group = groups.get(bucket);
    if (group === undefined) groups.set(bucket, [item]);
    else group.push(item);
  }
  return [...groups.values()];
}
