import { type Static, Type } from 'typebox';

/** A claim is made by its worker, new for each job: as hard to guess as it likes, and sixteen characters at least. */
const CLAIM = Type.String({
  pattern: '^[A-Za-z0-9_-]{16,64}$',
  description:
    '16 to 64 letters, digits, `_` or `-`: what the job was claimed under, new for each claim, such as a UUID',
});

const RUN_FIELDS = {
  id: Type.String({ minLength: 1, description: 'the id of the job, as the claim answered it' }),
  tenant: Type.String({ minLength: 1, description: 'the tenant of the job, as the claim answered it' }),
  claim: CLAIM,
};
const closed = { additionalProperties: false, description: 'an object' } as const;

/** Which run a worker speaks of. */
export const RunReference = Type.Object(RUN_FIELDS, closed);
export type RunReference = Static<typeof RunReference>;

/** How long a claim waits for a job unless it says so, and at most, in milliseconds. */
export const CLAIM_WAIT_MS = { default: 20_000, most: 60_000 } as const;

/** The body of `POST /v1/workers/claim`. */
export const ClaimRequest = Type.Object(
  {
    type: Type.String({ minLength: 1, description: 'the name of a job type without a handler' }),
    claim: Type.Optional(CLAIM),
    waitMs: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: CLAIM_WAIT_MS.most,
        default: CLAIM_WAIT_MS.default,
        description: `an integer of milliseconds from 0 to ${CLAIM_WAIT_MS.most}: how long to wait for a job`,
      }),
    ),
  },
  closed,
);
export type ClaimRequest = Static<typeof ClaimRequest>;

const MOST_RUNS = 100;

/** The body of `POST /v1/workers/heartbeat`. */
export const HeartbeatRequest = Type.Object(
  {
    runs: Type.Array(RunReference, {
      minItems: 1,
      maxItems: MOST_RUNS,
      description: `an array of 1 to ${MOST_RUNS} runs`,
    }),
  },
  closed,
);
export type HeartbeatRequest = Static<typeof HeartbeatRequest>;

/** The body of `POST /v1/workers/progress`. */
export const ProgressRequest = Type.Object(
  { ...RUN_FIELDS, progress: Type.Unknown({ description: 'how far the job is: any JSON, at most 16 KB' }) },
  closed,
);

const MOST_CHUNKS = 1000;

/** The body of `POST /v1/workers/emit`. */
export const EmitRequest = Type.Object(
  {
    ...RUN_FIELDS,
    first: Type.Integer({
      minimum: 1,
      maximum: 1_000_000,
      description:
        'an integer from 1: the number of the first of these chunks within the run; what is sent again is stored once',
    }),
    chunks: Type.Array(Type.Unknown(), {
      minItems: 1,
      maxItems: MOST_CHUNKS,
      description: `an array of 1 to ${MOST_CHUNKS} texts or other JSON values, 1 MB in all of a run`,
    }),
  },
  closed,
);

/** The body of `POST /v1/workers/charge`. */
export const ChargeRequest = Type.Object(
  {
    ...RUN_FIELDS,
    cost: Type.Number({ minimum: 0.001, maximum: 10_000, description: 'a number of cost units from 0.001 to 10000' }),
  },
  closed,
);

/** The body of `POST /v1/workers/complete`. */
export const CompleteRequest = Type.Object(
  { ...RUN_FIELDS, result: Type.Optional(Type.Unknown({ description: 'any JSON, at most 1 MB; null unless given' })) },
  closed,
);

const DAY_MS = 24 * 60 * 60 * 1000;

/** The body of `POST /v1/workers/fail`. */
export const FailRequest = Type.Object(
  {
    ...RUN_FIELDS,
    error: Type.String({
      minLength: 1,
      maxLength: 4096,
      description: 'a text of 1 to 4096 characters: what went wrong',
    }),
    final: Type.Optional(
      Type.Boolean({ default: false, description: 'true where no other attempt can help, or false' }),
    ),
    retryAfterMs: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: DAY_MS,
        description:
          'an integer of milliseconds up to a day: the upstream is busy for so long. The job goes back without using an attempt, and its bucket or type starts nothing until then',
      }),
    ),
    scope: Type.Optional(
      Type.Union([Type.Literal('bucket'), Type.Literal('type')], {
        default: 'bucket',
        description: '`bucket` or `type`: what starts nothing while the upstream is busy',
      }),
    ),
  },
  closed,
);
