import Type from 'typebox';
import { TenantFields } from './config-schema.js';
import type { OverrideSubject } from './override-subject.js';
import { CapacityFields, StatedProfile } from './profile-schema.js';

/**
 * What may be overridden at run time: fields of the file under their own names, with its units, ranges and sentences. All
 * of them may be left out.
 */
const { rate, burst, concurrency } = CapacityFields.properties;
const { tier, types, webhook } = TenantFields.properties;

/** A tenant: its tier, its profile and mode, and those of one type, its webhook. */
const TenantOverrideFields = Type.Object({ tier, ...StatedProfile.properties, types, webhook });

/** A type: its capacity. */
const TypeOverrideFields = Type.Object({
  capacity: Type.Optional(
    Type.Object({
      rate: Type.Optional(rate),
      burst: Type.Optional(burst),
      concurrency: Type.Optional(concurrency),
    }),
  ),
});

export const OVERRIDE_FIELDS = {
  tenant: TenantOverrideFields,
  tier: StatedProfile,
  type: TypeOverrideFields,
} as const satisfies Record<OverrideSubject['kind'], Type.TObject>;

export type TenantOverride = Type.Static<typeof TenantOverrideFields>;
export type TypeOverride = Type.Static<typeof TypeOverrideFields>;
