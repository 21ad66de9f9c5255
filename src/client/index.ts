/** What programs import from `headgate/client`. */
export { HeadgateClient, type SubmitOptions, type TenantCall } from './client.js';
export { HeadgateError, type ProblemDocument } from './headgate-error.js';
export {
  type Basis,
  type Cancellation,
  type CompletedJob,
  type EndedJob,
  hasEnded,
  type Job,
  type JobPage,
  type JobState,
  type ListedJob,
  type LostJob,
  type NewJob,
  type OpenJob,
  type StartPromise,
  type SubmittedJob,
  type WebhookEvent,
} from './job.js';
export type { JobEvent } from './job-event.js';
export type { CallOptions } from './patience.js';
export type { ClientOptions, Request } from './transport.js';
