import { CapacityGauge } from './capacity-gauge.js';
import type { BucketRecord, Evidence, TypeRecord } from './case-file.js';
import { Disturbances } from './disturbances.js';
import { Occupancy } from './occupancy.js';
import { type ScheduledStart, scheduleOf } from './schedule.js';

/** What one bucket's rate alone would have made of its starts, and what may have moved them. */
export interface BucketTimetable {
  readonly starts: readonly ScheduledStart[];
  readonly disturbances: Disturbances;
}

/** The same for all buckets of a type, and where its slots were free. */
export interface Timetable {
  readonly occupancy: Occupancy;
  readonly capacity: CapacityGauge;
  readonly buckets: ReadonlyMap<BucketRecord, BucketTimetable>;
}

/** Works out a type's timetable from what was seen. */
export function timetableOf(file: Evidence, type: TypeRecord): Timetable {
  const occupancy = new Occupancy(file, type);
  const capacity = new CapacityGauge(type, file.tolerances.arrivalMs);
  const buckets = new Map<BucketRecord, BucketTimetable>();
  for (const [bucket, starts] of scheduleOf(file, type, occupancy, capacity)) {
    buckets.set(bucket, { starts, disturbances: new Disturbances(file, bucket, starts) });
  }
  return { occupancy, capacity, buckets };
}
