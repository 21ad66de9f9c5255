import { Type } from 'typebox';
import { RATE_RANGE } from '../config/profile-schema.js';
import { parseQuantity } from '../config/quantity.js';
import { schemaCheck } from '../http/body-checks.js';
import { principalOf } from '../http/first-look.js';
import type { HttpApp } from '../http/http-app.js';
import { namedTenant } from '../http/named-tenant.js';
import { accepted, type Checked, refused } from '../http/problems.js';
import { replyProblem } from '../http/reply-problem.js';
import { NoQuery } from '../http/request-schemas.js';
import { shown } from '../http/shown.js';
import type { BucketSurvey, SurveyedBucket } from '../shaping/bucket-survey.js';
import { paceOf } from '../shaping/profile-bytes.js';
import { previewUs } from './view/preview.js';

const Preview = Type.Object(
  {
    type: Type.String({ description: 'the name of a job type' }),
    tenant: Type.Optional(Type.String({ minLength: 1, description: 'the id of a tenant; required of an admin' })),
    rate: Type.String({ description: 'a rate such as 2/s, 30/m or unlimited' }),
  },
  { additionalProperties: false, description: 'an object' },
);
const previewBody = schemaCheck(Preview, 'body');

/** `POST /dashboard/preview`: when what waits would have started at another rate. Changes nothing. */
export function previewRoute(
  app: HttpApp,
  survey: Pick<BucketSurvey, 'buckets'>,
  typeNames: () => readonly string[],
): void {
  app.post('/dashboard/preview', { schema: { hide: true, querystring: NoQuery } }, async (request, reply) => {
    const body = previewBody(request.body, []);
    if (!body.ok) return replyProblem(reply, body.problem);
    const { type } = body.value;
    const tenant = namedTenant(principalOf(request), body.value.tenant, 'tenant');
    if (!tenant.ok) return replyProblem(reply, tenant.problem);
    if (!typeNames().includes(type)) {
      const detail = `There is no job type ${shown(type)}.`;
      return replyProblem(reply, { code: 'unknown_type', field: 'type', detail });
    }
    const rate = readRate(body.value.rate);
    if (!rate.ok) return replyProblem(reply, rate.problem);
    const [bucket] = await survey.buckets(type, [tenant.value]);
    if (bucket === undefined) throw new Error('a survey of one bucket finds one');
    return reply.code(200).send(previewOf(bucket, rate.value));
  });
}

/** The preview of a bucket as it was found; an end is `null` where it never comes. */
export function previewOf(bucket: SurveyedBucket, ratePerSecond: number) {
  const { profile, waiting, waitingCost, level, atMs, paused } = bucket;
  const [pace, other] = [paceOf(profile), paceOf({ ...profile, ratePerSecond })];
  const state = { tatUs: atMs * 1000 + level * pace.emissionUs, jobTatUs: 0 };
  const { endsAtUs, wouldEndAtUs } = previewUs({ state, pace, waiting, waitingCost }, other, atMs * 1000);
  return {
    waiting,
    endsAt: paused || profile.ratePerSecond === 0 ? null : instant(endsAtUs),
    wouldEndAt: ratePerSecond === 0 || (paused && profile.ratePerSecond > 0) ? null : instant(wouldEndAtUs),
  };
}

function readRate(text: string): Checked<number> {
  const rate = parseQuantity('rate', text);
  const { least, most } = RATE_RANGE;
  if (rate !== undefined && (rate === 0 || rate === Infinity || (rate >= least && rate <= most))) return accepted(rate);
  const detail = `\`rate\` must be a rate such as 2/s, 30/m or unlimited, from ${least}/s to ${most}/s; got ${shown(text)}.`;
  return refused({ code: 'invalid_field', field: 'rate', detail });
}

/** Dates end there. */
const LAST_US = 8.64e18;

function instant(us: number): string | null {
  return us <= LAST_US ? new Date(Math.round(us / 1000)).toISOString() : null;
}
