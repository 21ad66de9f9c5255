import { DEFAULT_CAPACITY, DEFAULT_PROFILE } from '../model/profile.js';
import { PROFILE_FIELDS } from './build-config.js';
import type { ProfileOverride } from './config.js';
import type { LiveConfig } from './live-config.js';
import { MODES, type Mode } from './mode.js';
import { writtenAsJson } from './override-values.js';
import { formatPath } from './problem.js';
import { CapacityFields, StatedProfile } from './profile-schema.js';
import { formatQuantity } from './quantity.js';

/** A value that holds, as the file would have it, and where it comes from. */
export interface Origin {
  readonly value: string | number;
  /**
   * `override`: what an administrator stated for this very tenant, tier or type; `file`: what the file states for it;
   * `tier`: the tenant's tier, which may be overridden in turn; `type`: the type, for a mode; `default`: nobody said.
   */
  readonly from: 'override' | 'file' | 'tier' | 'type' | 'default';
  /** Where that stands: `tenants.acme.types.ocr`, `tiers.pro`, `defaults`. */
  readonly at: string;
}

/** By the name of the field in the file. */
export type Origins = Readonly<Record<string, Origin>>;

interface Layer extends Pick<Origin, 'from' | 'at'> {
  readonly stated: ProfileOverride | undefined;
  readonly mode: Mode | null | undefined;
}

/** Where every field of a tenant's profile for a type comes from, its mode among them. */
export function tenantOrigins(live: LiveConfig, id: string, type: string): Origins {
  const over = live.tenantOverride(id);
  const file = live.file.tenants.get(id);
  const [own, ownType] = [placeOf('tenants', id), placeOf('tenants', id, 'types', type)];
  return origins([
    { from: 'override', at: ownType, stated: over.types.get(type), mode: over.typeModes.get(type) },
    { from: 'file', at: ownType, stated: file?.types.get(type), mode: file?.typeModes.get(type) },
    { from: 'override', at: own, stated: over.stated, mode: over.mode },
    { from: 'file', at: own, stated: file?.stated, mode: file?.mode },
    tierLayer(live, tierOrigin(live, id).value),
    { from: 'type', at: placeOf('types', type), stated: {}, mode: live.file.types.get(type)?.mode },
    DEFAULTS,
  ]);
}

/** The tier of a tenant. */
export function tierOrigin(live: LiveConfig, id: string): Origin & { readonly value: string } {
  const at = placeOf('tenants', id);
  const over = live.tenantOverride(id).tier;
  if (over !== null) return { value: over, from: 'override', at };
  const file = live.file.tenants.get(id);
  if (file !== undefined) return { value: file.tier, from: 'file', at };
  return { value: live.file.defaultTier, from: 'default', at: 'defaultTier' };
}

/** Where every field of a tier comes from. Its mode is absent where each type has its own. */
export function tierOriginsOf(live: LiveConfig, name: string): Origins {
  const at = placeOf('tiers', name);
  const overridden = live.values({ kind: 'tier', name });
  const view = live.view.tiers.get(name);
  const isOver = (field: string) => overridden.has(field);
  const own: ProfileOverride = Object.fromEntries(
    PROFILE_FIELDS.flatMap(([written, field]) => (isOver(written) ? [[field, view?.stated[field]]] : [])),
  );
  const file = live.file.tiers.get(name);
  return origins([
    { from: 'override', at, stated: own, mode: isOver('mode') ? view?.mode : null },
    { from: 'file', at, stated: file?.stated, mode: file?.mode },
    { ...DEFAULTS, mode: null },
  ]);
}

/**
 * Where the capacity of a type comes from. A default that the file repeats passes for the default: the file is not asked
 * again.
 */
export function capacityOrigins(live: LiveConfig, name: string): Origins {
  const at = placeOf('types', name, 'capacity');
  const overridden = live.values({ kind: 'type', name });
  const view = live.view.types.get(name)?.capacity ?? DEFAULT_CAPACITY;
  const fields = [
    ['rate', view.ratePerSecond, DEFAULT_CAPACITY.ratePerSecond],
    ['burst', view.burst, DEFAULT_CAPACITY.burst],
    ['concurrency', view.concurrency, DEFAULT_CAPACITY.concurrency],
  ] as const;
  return Object.fromEntries(
    fields.map(([field, value, usual]): [string, Origin] => {
      const schema = CapacityFields.properties[field];
      const written = writtenAsJson(schema, formatQuantity(schema.unit, value));
      if (overridden.has(`capacity.${field}`)) return [field, { value: written, from: 'override', at }];
      return [field, value === usual ? { value: written, ...NOBODY } : { value: written, from: 'file', at }];
    }),
  );
}

const NOBODY = { from: 'default', at: 'defaults' } as const;
const DEFAULTS: Layer = { ...NOBODY, stated: DEFAULT_PROFILE, mode: MODES[0] };

function tierLayer(live: LiveConfig, name: string): Layer {
  const tier = live.view.tiers.get(name);
  return { from: 'tier', at: placeOf('tiers', name), stated: tier?.stated, mode: tier?.mode };
}

/** Of each field the first layer that states it. */
function origins(layers: readonly Layer[]): Origins {
  const found: Record<string, Origin> = {};
  for (const [written, field] of PROFILE_FIELDS) {
    const layer = layers.find(({ stated }) => stated?.[field] !== undefined);
    const value = layer?.stated?.[field];
    if (layer === undefined || value === undefined) continue;
    const schema = StatedProfile.properties[written];
    const text = formatQuantity(schema.unit, value);
    found[written] = { value: writtenAsJson(schema, text), from: layer.from, at: layer.at };
  }
  const layer = layers.find(({ mode }) => mode !== undefined && mode !== null);
  if (layer?.mode) found.mode = { value: layer.mode, from: layer.from, at: layer.at };
  return found;
}

function placeOf(...path: string[]): string {
  return formatPath(path);
}
