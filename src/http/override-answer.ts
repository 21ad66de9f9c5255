import { Type } from 'typebox';
import { mayUse } from '../config/effective-profile.js';
import { capacityOrigins, tenantOrigins, tierOrigin, tierOriginsOf } from '../config/field-origins.js';
import type { LiveConfig } from '../config/live-config.js';
import { overcommitments } from '../config/overcommitment.js';
import { OVERRIDE_FIELDS } from '../config/override-schema.js';
import type { OverrideSubject } from '../config/override-subject.js';
import { overridesAsJson, withoutSecrets } from '../config/override-values.js';
import type { Administration } from '../shaping/administration.js';
import { TenantWebhookResource, tenantWebhookResource } from './tenant-webhook.js';

const Origin = Type.Object({
  value: Type.Union([Type.String(), Type.Number()], { description: 'as the file would have it' }),
  from: Type.Union(
    [
      Type.Literal('override'),
      Type.Literal('file'),
      Type.Literal('tier'),
      Type.Literal('type'),
      Type.Literal('default'),
    ],
    { description: 'who said so' },
  ),
  at: Type.String({ description: 'where that stands, as a place in the configuration' }),
});
const Fields = Type.Record(Type.String(), Origin);

export const Paused = Type.Array(
  Type.Union([
    Type.Literal('hand', { description: 'paused by POST …/pause' }),
    Type.Literal('rate', { description: 'a rate is 0' }),
    Type.Literal('type', { description: 'the type as a whole is paused' }),
  ]),
  { description: 'why nothing starts; empty while it does' },
);

const Common = {
  overrides: Type.Record(Type.String(), Type.Unknown(), {
    description: 'what PUT would take to state the same; no secrets',
  }),
  warnings: Type.Array(Type.String()),
  retimed: Type.Optional(
    Type.Integer({ description: 'buckets that this process re-timed; another may have been faster' }),
  ),
};

export const TenantResource = Type.Object({
  tenant: Type.String(),
  inFile: Type.Boolean(),
  tier: Origin,
  types: Type.Record(Type.String(), Type.Object({ paused: Paused, profile: Fields })),
  webhook: TenantWebhookResource,
  webhookSecret: Type.Optional(Type.String({ description: 'made by this request, and shown this once' })),
  ...Common,
});

export const TierResource = Type.Object({ tier: Type.String(), profile: Fields, ...Common });

export const TypeResource = Type.Object({ type: Type.String(), paused: Paused, capacity: Fields, ...Common });

/** What holds for a tenant, type by type, and where each value comes from. */
export async function tenantResource(admin: Administration, id: string): Promise<Type.Static<typeof TenantResource>> {
  const { live } = admin;
  const names = [...live.file.types.keys()];
  const types = await Promise.all(
    names.map(async (type) => ({
      type,
      paused: await pausedBecause(admin, type, id),
      profile: tenantOrigins(live, id, type),
    })),
  );
  const still = types.filter(({ paused }) => paused.includes('rate')).map(({ type }) => type);
  const promised = overcommitments(live.view).filter(({ type }) => mayUse(live.view, type, id));
  return {
    tenant: id,
    inFile: live.file.tenants.has(id),
    tier: tierOrigin(live, id),
    types: Object.fromEntries(types.map(({ type, ...rest }) => [type, rest])),
    webhook: tenantWebhookResource(live, id),
    overrides: overridden(live, { kind: 'tenant', name: id }),
    warnings: [
      ...(still.length === 0 ? [] : [`a rate of 0 means paused: nothing of this tenant starts in ${still.join(', ')}`]),
      ...promised.map(({ message }) => message),
    ],
  };
}

/** Why a bucket starts nothing. */
export async function pausedBecause(
  admin: Administration,
  type: string,
  tenant: string,
): Promise<Type.Static<typeof Paused>> {
  const { live } = admin;
  const { rate, jobRate } = tenantOrigins(live, tenant, type);
  return [
    ...((await admin.isPaused(type, tenant)) ? (['hand'] as const) : []),
    ...(rate?.value === '0' || jobRate?.value === '0' ? (['rate'] as const) : []),
    ...(typePausedBecause(live, type).length > 0 ? (['type'] as const) : []),
  ];
}

/** What holds for the tenants of a tier, where they and their types say nothing else. */
export function tierResource({ live }: Administration, name: string): Type.Static<typeof TierResource> {
  const profile = tierOriginsOf(live, name);
  const isStill = profile.rate?.value === '0' || profile.jobRate?.value === '0';
  return {
    tier: name,
    profile,
    overrides: overridden(live, { kind: 'tier', name }),
    warnings: [
      ...(isStill ? ['a rate of 0 means paused: nothing of the tenants of this tier starts'] : []),
      ...overcommitments(live.view).map(({ message }) => message),
    ],
  };
}

/** What holds for a type as a whole. */
export function typeResource({ live }: Administration, name: string): Type.Static<typeof TypeResource> {
  const paused = typePausedBecause(live, name);
  return {
    type: name,
    paused,
    capacity: capacityOrigins(live, name),
    overrides: overridden(live, { kind: 'type', name }),
    warnings: [
      ...(paused.includes('rate') ? ['a rate of 0 means paused: nothing of this type starts'] : []),
      ...overcommitments(live.view).flatMap(({ type, message }) => (type === name ? [message] : [])),
    ],
  };
}

export function typePausedBecause(live: LiveConfig, type: string): ('hand' | 'rate')[] {
  return [
    ...(live.isPaused(type) ? (['hand'] as const) : []),
    ...(live.view.types.get(type)?.capacity.ratePerSecond === 0 ? (['rate'] as const) : []),
  ];
}

function overridden(live: LiveConfig, subject: OverrideSubject): Record<string, unknown> {
  const schema = OVERRIDE_FIELDS[subject.kind];
  return overridesAsJson(schema, withoutSecrets(schema, live.values(subject)));
}
