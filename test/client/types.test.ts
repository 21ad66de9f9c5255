import type { Static } from 'typebox';
import { expectTypeOf, test } from 'vitest';
import type { NewJob, OpenJob, SubmittedJob } from '../../src/client/index.js';
import type { AcceptedJob, JobResource } from '../../src/http/job-answer.js';
import type { JobRequest } from '../../src/http/job-request.js';

test('the types of the client are those of the API', () => {
  expectTypeOf<Omit<JobResource, 'state' | 'result' | 'error'>>().toExtend<Omit<OpenJob, 'state'>>();
  expectTypeOf<OpenJob['state']>().toExtend<JobResource['state']>();
  expectTypeOf<AcceptedJob>().toExtend<Omit<SubmittedJob, 'replayed'>>();
  expectTypeOf<keyof NewJob>().toExtend<keyof Static<typeof JobRequest>>();
});
