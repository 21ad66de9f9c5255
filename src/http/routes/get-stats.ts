import { Type } from 'typebox';
import type { BucketView, TypeView } from '../../shaping/shaping.js';
import { BUCKET_STATE, bucketState } from '../bucket-state.js';
import { principalOf } from '../first-look.js';
import type { HttpApp, RouteParts } from '../http-app.js';
import { Limit, limitOrNull } from '../limit-or-null.js';
import { nameHint } from '../name-hint.js';
import { namedTenant } from '../named-tenant.js';
import { accepted, type Checked, type Problem, refused } from '../problems.js';
import { replyProblem } from '../reply-problem.js';
import { PROBLEM_ANSWERS, StatsQuery } from '../request-schemas.js';
import { shown } from '../shown.js';

const TypeStats = Type.Object({
  type: Type.String(),
  capacity: Type.Object({ ratePerSecond: Limit, burst: Limit, concurrency: Limit }),
  backloggedBuckets: Type.Integer(),
  readyBuckets: Type.Integer(),
  running: Type.Integer(),
  servedPerSecond: Type.Number({ description: 'cost units that started, over about the last minute' }),
  meanRunMs: Type.Union([Type.Integer(), Type.Null()]),
  scarceForMs: Type.Union([Type.Integer(), Type.Null()], { description: 'null: there are workers enough' }),
});
const BucketStats = Type.Object({ tenant: Type.String(), weight: Type.Number(), ...BUCKET_STATE });
const Stats = Type.Object({
  types: Type.Array(TypeStats),
  buckets: Type.Optional(Type.Array(BucketStats, { description: 'of the one type that was asked for' })),
  cursor: Type.Optional(Type.String({ description: 'fetches the next page; absent on the last' })),
});

const DEFAULT_LIMIT = 50;
const ADMIN_ONLY: Problem = {
  code: 'admin_only',
  field: 'Authorization',
  detail: 'What all tenants do is shown to an admin key; `GET /v1/limits` is for everybody.',
};

/** `GET /v1/stats`: the types as a whole; of one, also its buckets, page by page, or that of one tenant. For admins. */
export function getStats(app: HttpApp, { shaping, keeper }: RouteParts): void {
  app.get(
    '/v1/stats',
    { schema: { querystring: StatsQuery, response: { 200: Stats, ...PROBLEM_ANSWERS } } },
    async (request, reply) => {
      const principal = principalOf(request);
      if (principal.kind !== 'admin') return replyProblem(reply, ADMIN_ONLY);
      const { type, tenant, cursor, limit = DEFAULT_LIMIT } = request.query;
      const asked = askedTypes(keeper.door.typeNames(), request.query);
      if (!asked.ok) return replyProblem(reply, asked.problem);
      const types = (await Promise.all(asked.value.map((name) => shaping.type(name)))).map(typeStats);
      if (type === undefined) return reply.code(200).send({ types });
      if (tenant !== undefined) {
        const named = namedTenant(principal, tenant, 'tenant');
        if (!named.ok) return replyProblem(reply, named.problem);
        const bucket = await shaping.bucket(type, named.value);
        return reply.code(200).send({ types, buckets: [bucketStats(bucket)] });
      }
      const page = await shaping.buckets(type, cursor, limit);
      const buckets = page.buckets.map(bucketStats);
      return reply.code(200).send({ types, buckets, ...(page.cursor === undefined ? {} : { cursor: page.cursor }) });
    },
  );
}

/** The one type that is asked for, or all; a page and a tenant are of one. */
function askedTypes(
  names: readonly string[],
  query: { readonly type?: string; readonly tenant?: string; readonly cursor?: string; readonly limit?: number },
): Checked<readonly string[]> {
  const { type } = query;
  if (type !== undefined) {
    if (names.includes(type)) return accepted([type]);
    const detail = `There is no job type ${shown(type)}: ${nameHint(type, names, 'types')}`;
    return refused({ code: 'unknown_type', field: 'type', detail });
  }
  const field = (['tenant', 'cursor', 'limit'] as const).find((each) => query[each] !== undefined);
  if (field === undefined) return accepted(names);
  return refused({
    code: 'missing_field',
    field: 'type',
    detail: `\`type\` is required where there is a \`${field}\`.`,
  });
}

function typeStats({ capacity: { ratePerSecond, burst, concurrency }, ...view }: TypeView) {
  const capacity = {
    ratePerSecond: limitOrNull(ratePerSecond),
    burst: limitOrNull(burst),
    concurrency: limitOrNull(concurrency),
  };
  return { ...view, capacity };
}

function bucketStats(bucket: BucketView) {
  return { tenant: bucket.tenant, weight: bucket.profile.weight, ...bucketState(bucket) };
}
