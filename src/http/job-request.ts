import { type Static, Type } from 'typebox';
import { LONGEST_WEBHOOK_URL } from '../config/webhook-url.js';
import { WEBHOOK_EVENTS, type WebhookEvent } from '../model/webhook.js';

/** Ten years: far beyond what a 32-bit timer can hold, and a bound all the same. */
export const LONGEST_DELAY_MS = 10 * 365.25 * 24 * 60 * 60 * 1000;
/** Jobs in one batch. */
export const LARGEST_BATCH = 1000;
/** 1 to 255 visible characters of ASCII. */
export const IDEMPOTENCY_KEY = /^[\x21-\x7e]{1,255}$/;

const EVENT_NAMES = WEBHOOK_EVENTS.map((event) => `\`${event}\``).join(', ');

/** An end that a webhook tells. */
export const EVENT_NAME = Type.Unsafe<WebhookEvent>({
  type: 'string',
  enum: WEBHOOK_EVENTS,
  description: `one of ${EVENT_NAMES}`,
});

/**
 * The fields of a job as it is posted. Each description completes the sentence "`field` must be …", in the
 * documentation and in the message to a caller who sent something else.
 */
const JOB_FIELDS = {
  type: Type.String({ minLength: 1, description: 'the name of a job type' }),
  data: Type.Unsafe<Readonly<Record<string, unknown>>>({
    type: 'object',
    description: 'an object: the payload, which the handler gets as it is',
  }),
  priority: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 9, default: 4, description: 'an integer from 0 (first) to 9 (last)' }),
  ),
  delayMs: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: LONGEST_DELAY_MS,
      default: 0,
      description: `an integer of milliseconds from 0 to ${LONGEST_DELAY_MS} (ten years)`,
    }),
  ),
  runAt: Type.Optional(
    Type.String({
      description: 'an instant in RFC 3339 within ten years, in place of `delayMs`; one that has passed is now',
    }),
  ),
  startBy: Type.Optional(
    Type.String({ description: 'an instant in RFC 3339: the job expires at it unless it has started' }),
  ),
  attempts: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 100,
      description: 'an integer from 1 to the `attempts` of the type, which hold unless it is given: tries in all',
    }),
  ),
  backoff: Type.Optional(
    Type.Object(
      {
        type: Type.Union([Type.Literal('fixed'), Type.Literal('exponential')], {
          description: '`fixed` or `exponential`',
        }),
        delayMs: Type.Integer({
          minimum: 0,
          maximum: LONGEST_DELAY_MS,
          description: 'an integer of milliseconds from 0 to the `backoff.max` of the type',
        }),
      },
      {
        additionalProperties: false,
        description:
          'an object of `type`, `fixed` or `exponential`, and `delayMs`, at most the `backoff.max` of the type: the wait before a retry, in place of the type’s',
      },
    ),
  ),
  webhook: Type.Optional(
    Type.Object(
      {
        url: Type.String({
          minLength: 1,
          maxLength: LONGEST_WEBHOOK_URL,
          description: `an http or https URL of at most ${LONGEST_WEBHOOK_URL} characters, at a public address`,
        }),
        events: Type.Optional(
          Type.Array(EVENT_NAME, {
            minItems: 1,
            maxItems: WEBHOOK_EVENTS.length,
            description: `a list of events, of ${EVENT_NAMES}; all of them unless given`,
          }),
        ),
      },
      {
        additionalProperties: false,
        description:
          'an object of `url`, and perhaps `events`: where the end of the job is told, in place of the tenant’s webhook',
      },
    ),
  ),
  cost: Type.Optional(Type.Number({ description: 'a number of cost units, where the type takes it from the request' })),
  tenant: Type.Optional(Type.String({ minLength: 1, description: 'the id of a tenant; required with an admin key' })),
};

/** The body of `POST /v1/jobs`. */
export const JobRequest = Type.Object(JOB_FIELDS, { additionalProperties: false, description: 'an object' });
export type JobRequest = Static<typeof JobRequest>;

/** One job of a batch: the same, with the idempotency key that a single job has in a header. */
export const BatchItem = Type.Object(
  {
    ...JOB_FIELDS,
    idempotencyKey: Type.Optional(
      Type.String({ pattern: IDEMPOTENCY_KEY.source, description: '1 to 255 visible characters of ASCII' }),
    ),
  },
  { additionalProperties: false, description: 'an object' },
);
export type BatchItem = Static<typeof BatchItem>;

const BATCH_TENANT = Type.Optional(
  Type.String({ minLength: 1, description: 'the id of the tenant of every item that names none' }),
);
const BATCH_SIZE = { minItems: 1, maxItems: LARGEST_BATCH, description: `an array of 1 to ${LARGEST_BATCH} jobs` };

/** The body of `POST /v1/jobs/batch`. */
export const BatchRequest = Type.Object(
  { jobs: Type.Array(BatchItem, BATCH_SIZE), tenant: BATCH_TENANT },
  { additionalProperties: false, description: 'an object' },
);

/** The same, with items yet to be looked at: each goes through the door's own order. */
export const BatchEnvelope = Type.Object(
  { jobs: Type.Array(Type.Unknown(), BATCH_SIZE), tenant: BATCH_TENANT },
  { additionalProperties: false, description: 'an object' },
);
export type BatchEnvelope = Static<typeof BatchEnvelope>;
