import type { Principal } from './keyring.js';
import { accepted, type Checked } from './problems.js';
import { type DoorKeeper, type JobAtDoor, readJob } from './read-job.js';

/** Reads the body of a batch: every item is sound, or the first fault is the answer and none is admitted. */
export function readBatch(
  keeper: DoorKeeper,
  raw: unknown,
  principal: Principal,
  requestId: string,
): Checked<readonly JobAtDoor[]> {
  const batch = keeper.checks.batch(raw, []);
  if (!batch.ok) return batch;
  const { jobs, tenant } = batch.value;
  const sound: JobAtDoor[] = [];
  for (const [index, item] of jobs.entries()) {
    const job = readJob(keeper, item, { principal, tenant, requestId, at: ['jobs', index] });
    if (!job.ok) return job;
    sound.push(job.value);
  }
  return accepted(sound);
}
