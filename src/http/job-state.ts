import { Type } from 'typebox';
import { JOB_STATES, type JobState } from '../model/verdict.js';

/** The schema of a job's state. */
export const State = Type.Unsafe<JobState>({
  type: 'string',
  enum: JOB_STATES,
  description: `one of ${JOB_STATES.join(', ')}`,
});
