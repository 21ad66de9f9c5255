import { Type } from 'typebox';
import type { BucketView } from '../../shaping/shaping.js';
import { roomHeaders } from '../answer-headers.js';
import { BUCKET_STATE, bucketState } from '../bucket-state.js';
import { principalOf } from '../first-look.js';
import type { HttpApp, RouteParts } from '../http-app.js';
import { Limit, limitOrNull } from '../limit-or-null.js';
import { namedTenant } from '../named-tenant.js';
import { accepted } from '../problems.js';
import { replyProblem } from '../reply-problem.js';
import { LimitsQuery, PROBLEM_ANSWERS } from '../request-schemas.js';
import { usableType, usableTypes } from '../usable-type.js';

const BucketLimits = Type.Object({
  type: Type.String(),
  profile: Type.Object({
    ratePerSecond: Limit,
    burst: Limit,
    jobRatePerSecond: Limit,
    depth: Limit,
    maxBytes: Limit,
    maxWaitMs: Limit,
    weight: Type.Number(),
    concurrency: Limit,
  }),
  freePlaces: Limit,
  ...BUCKET_STATE,
});

/** What holds for one tenant. */
export const LimitList = Type.Object({ tenant: Type.String(), limits: Type.Array(BucketLimits) });

/** `GET /v1/limits`: the tenant's effective profile per type, and how much of it is taken. */
export function getLimits(app: HttpApp, { shaping, keeper }: RouteParts): void {
  app.get(
    '/v1/limits',
    {
      schema: { querystring: LimitsQuery, response: { 200: LimitList, ...PROBLEM_ANSWERS } },
    },
    async (request, reply) => {
      const tenant = namedTenant(principalOf(request), request.query.tenant, 'tenant');
      if (!tenant.ok) return replyProblem(reply, tenant.problem);
      const { type } = request.query;
      const usable = type === undefined ? accepted(null) : usableType(keeper.door, tenant.value, type, 'type');
      if (!usable.ok) return replyProblem(reply, usable.problem);
      const names = type === undefined ? usableTypes(keeper.door, tenant.value) : [type];
      const buckets = await Promise.all(names.map((name) => shaping.bucket(name, tenant.value)));
      const [only, ...others] = buckets;
      if (only !== undefined && others.length === 0) reply.headers(roomHeaders(only.profile.depth, freePlaces(only)));
      return reply.code(200).send({ tenant: tenant.value, limits: buckets.map(bucketLimits) });
    },
  );
}

function bucketLimits(bucket: BucketView) {
  const { type, profile } = bucket;
  return {
    type,
    profile: {
      ratePerSecond: limitOrNull(profile.ratePerSecond),
      burst: limitOrNull(profile.burst),
      jobRatePerSecond: limitOrNull(profile.jobRatePerSecond),
      depth: limitOrNull(profile.depth),
      maxBytes: limitOrNull(profile.maxBytes),
      maxWaitMs: limitOrNull(profile.maxWaitMs),
      weight: profile.weight,
      concurrency: limitOrNull(profile.concurrency),
    },
    freePlaces: limitOrNull(freePlaces(bucket)),
    ...bucketState(bucket),
  };
}

/** Returned jobs always fit, so more may wait than the depth allows at the door. */
function freePlaces({ profile, waiting, delayed }: BucketView): number {
  return Math.max(0, profile.depth - waiting - delayed);
}
