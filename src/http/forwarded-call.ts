import type { FastifyRequest } from 'fastify';
import { type Static, Type } from 'typebox';
import { clientAddress } from '../policing/client-address.js';
import type { Caller } from '../policing/policing.js';
import { Cost } from './check-request.js';
import { knownPolicy } from './known-policy.js';
import { originalRequest } from './original-request.js';
import type { PolicedParts } from './policed-parts.js';
import { accepted, type Checked, refused } from './problems.js';
import { soleHeader } from './sole-header.js';

/** The query of `/v1/forward-auth`. */
export const ForwardAuthQuery = Type.Object(
  {
    policy: Type.Optional(Type.String({ description: 'the name of a policy' })),
    cost: Type.Optional(Cost),
    deny: Type.Optional(
      Type.Union([Type.Literal('403'), Type.Literal('429')], { default: '429', description: '403 or 429' }),
    ),
  },
  { additionalProperties: false },
);
export type ForwardAuthQuery = Static<typeof ForwardAuthQuery>;

/** What the policy of a forwarded request is asked. */
export interface ForwardedCall {
  readonly policy: string;
  readonly cost: number;
  readonly caller: Caller;
}

/** The header in which a gateway says who calls, once it has made sure of it. */
export const SUBJECT_HEADER = 'X-Headgate-Subject';
export const TIER_HEADER = 'X-Headgate-Tier';

/** The call that a gateway asks about; `undefined` when no route holds such requests to a policy. */
export function forwardedCall(
  policed: PolicedParts,
  request: Pick<FastifyRequest, 'raw' | 'ip'>,
  query: ForwardAuthQuery,
): Checked<ForwardedCall | undefined> {
  const caller = forwardedCaller(request);
  if (!caller.ok) return caller;
  const held = query.policy === undefined ? heldByRoute(policed, request, query) : heldByName(policed, query.policy);
  if (!held.ok) return held;
  if (held.value === undefined) return accepted(undefined);
  const { policy, cost } = held.value;
  return accepted({ policy, cost: query.cost ?? cost, caller: caller.value });
}

type Held = Checked<Omit<ForwardedCall, 'caller'> | undefined>;

function heldByName(policed: PolicedParts, name: string): Held {
  const policy = knownPolicy(policed, name, 'policy');
  return policy.ok ? accepted({ policy: policy.value, cost: 1 }) : policy;
}

function heldByRoute({ routes }: PolicedParts, request: Pick<FastifyRequest, 'raw'>, { cost }: ForwardAuthQuery): Held {
  if (cost !== undefined) {
    const detail = '`cost` goes with `policy`; without it, the table of routes says both.';
    return refused({ code: 'invalid_field', field: 'cost', detail });
  }
  const original = originalRequest(request);
  if (!original.ok) return original;
  return accepted(routes.find(original.value.method, original.value.uri));
}

/** Whom the gateway names, else the client's address. What is no address is nobody in particular: all such are one. */
function forwardedCaller(request: Pick<FastifyRequest, 'raw' | 'ip'>): Checked<Caller> {
  const key = soleHeader(request, SUBJECT_HEADER);
  if (!key.ok) return key;
  const tier = soleHeader(request, TIER_HEADER);
  if (!tier.ok) return tier;
  // A request over a unix socket has no address unless a proxy that is believed tells it.
  const address: string | undefined = key.value === undefined ? clientAddress(request.ip ?? '') : undefined;
  return accepted({
    ...(key.value === undefined ? {} : { key: key.value }),
    ...(tier.value === undefined ? {} : { tier: tier.value }),
    ...(address === undefined ? {} : { address }),
  });
}
