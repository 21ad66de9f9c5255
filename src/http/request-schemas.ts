import { Type } from 'typebox';
import { CURSOR_PATTERN } from '../shaping/cursor.js';
import { BUCKET_CURSOR } from '../shaping/tenants-at.js';
import { State } from './job-state.js';
import { PolicedFields } from './policed-answer.js';
import { PROBLEMS } from './problems.js';

const Tenant = Type.Optional(
  Type.String({ minLength: 1, description: 'the id of a tenant; required with an admin key' }),
);
const TypeName = Type.String({ minLength: 1, description: 'the name of a job type' });

/** The query of routes that take no parameter. */
export const NoQuery = Type.Object({}, { additionalProperties: false });

/** The body of routes whose address says everything. */
export const NoBody = Type.Object({}, { additionalProperties: false });

/** The query of routes about all types or one. */
export const TypeQuery = Type.Object({ type: Type.Optional(TypeName) }, { additionalProperties: false });

/** The query of routes about one tenant. */
export const TenantQuery = Type.Object({ tenant: Tenant }, { additionalProperties: false });

/** The query of `GET /v1/limits`. */
export const LimitsQuery = Type.Object(
  { tenant: Tenant, type: Type.Optional(TypeName) },
  { additionalProperties: false },
);

/** The query of `GET /v1/quote`. */
export const QuoteQuery = Type.Object(
  {
    type: TypeName,
    tenant: Tenant,
    count: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 1000, default: 1, description: 'a whole number of jobs from 1 to 1000' }),
    ),
    priority: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 9, default: 4, description: 'a whole number from 0 (first) to 9 (last)' }),
    ),
    cost: Type.Optional(Type.Number({ description: 'units that each job costs' })),
  },
  { additionalProperties: false },
);

/** The query of `GET /v1/stats`. */
export const StatsQuery = Type.Object(
  {
    type: Type.Optional(TypeName),
    tenant: Type.Optional(Type.String({ minLength: 1, description: 'the id of a tenant' })),
    cursor: Type.Optional(Type.String({ pattern: BUCKET_CURSOR, description: 'the cursor of a previous page' })),
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 100, default: 50, description: 'a whole number from 1 to 100' }),
    ),
  },
  { additionalProperties: false },
);

/** The query of `GET /v1/jobs`. */
export const JobsQuery = Type.Object(
  {
    type: TypeName,
    state: State,
    tenant: Tenant,
    cursor: Type.Optional(Type.String({ pattern: CURSOR_PATTERN, description: 'the cursor of a previous page' })),
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 100, default: 50, description: 'a whole number from 1 to 100' }),
    ),
  },
  { additionalProperties: false },
);

/** The query of `POST /v1/jobs/retry`. */
export const RetryQuery = Type.Object(
  {
    type: TypeName,
    state: Type.Literal('failed', { description: '`failed`: nothing else can be retried' }),
    tenant: Tenant,
    cursor: Type.Optional(Type.String({ pattern: CURSOR_PATTERN, description: 'the cursor of a previous answer' })),
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 1000, default: 100, description: 'a whole number from 1 to 1000' }),
    ),
  },
  { additionalProperties: false },
);

/** The path of routes about one job. */
export const JobParams = Type.Object({ id: Type.String({ description: 'the id of a job' }) });

/** The path of routes about one tenant. */
export const TenantParams = Type.Object({ id: Type.String({ description: 'the id of a tenant' }) });

/** The path of routes about one type. */
export const TypeParams = Type.Object({ name: Type.String({ description: 'the name of a job type' }) });

const Texts = (description: string) =>
  Type.Unsafe<readonly string[]>({ type: 'array', items: { type: 'string' }, description });

/** The body of every answer with a status of 400 or more. */
export const ProblemBody = Type.Object(
  {
    type: Type.String(),
    title: Type.String(),
    status: Type.Integer(),
    code: Type.Unsafe<string>({ type: 'string', enum: Object.keys(PROBLEMS), description: 'stable, for programs' }),
    detail: Type.String(),
    field: Type.Optional(Type.String()),
    retryAfterMs: Type.Optional(Type.Union([Type.Integer(), Type.Null()])),
    earliestStartAt: Type.Optional(Type.String({ format: 'date-time' })),
    id: Type.Optional(Type.String({ description: 'the job that may or may not have been stored' })),
    ids: Type.Optional(Texts('the same, of a batch')),
    allow: Type.Optional(Texts('methods that the address answers to')),
    checks: Type.Optional(Type.Record(Type.String(), Type.Unknown(), { description: 'what a readiness probe found' })),
    ...Type.Partial(PolicedFields).properties,
  },
  { description: 'RFC 9457, application/problem+json' },
);

/** The problems that any route may answer with. */
export const PROBLEM_ANSWERS = { '4xx': ProblemBody, '5xx': ProblemBody } as const;
