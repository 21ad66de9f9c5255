import { Check } from 'typebox/value';
import type { Capacity } from '../model/profile.js';
import { modesByType, profileOverride, tenantWebhook } from './build-config.js';
import type { Config, ProfileOverride, TenantConfig, TierConfig, TypeConfig } from './config.js';
import type { Mode } from './mode.js';
import { OVERRIDE_FIELDS } from './override-schema.js';
import { type OverrideSubject, parseSubject, subjectText } from './override-subject.js';
import { NO_OVERRIDES, type OverrideValues, readWritten } from './override-values.js';
import type { TenantWebhookFields } from './webhook-schema.js';

/** The type's pause by hand stands among its overrides, but nobody can state it there. */
const PAUSED = 'paused';

/**
 * The configuration as it holds at this moment: the file, and over it, field by field, what administrators changed.
 *
 * {@link view} is one object that is kept in step: who holds it, or a map of it, sees every change. It is as complete and as
 * checked as a configuration from a file. What was stored and means nothing by this file (a tier that is gone, a value of
 * another version) is left out of it, and {@link ignored} tells.
 */
export class LiveConfig {
  readonly file: Config;
  readonly view: Config;
  readonly #types: Map<string, TypeConfig>;
  readonly #tiers: Map<string, TierConfig>;
  readonly #tenants: Map<string, TenantConfig>;
  readonly #values = new Map<string, OverrideValues>();
  /** What tenants override, in the program's words. */
  readonly #stated = new Map<string, TenantOverrideConfig>();

  constructor(file: Config) {
    this.file = file;
    this.#types = new Map(file.types);
    this.#tiers = new Map(file.tiers);
    this.#tenants = new Map(file.tenants);
    this.view = { ...file, types: this.#types, tiers: this.#tiers, tenants: this.#tenants };
  }

  /** Everything that has overrides. */
  subjects(): readonly OverrideSubject[] {
    return [...this.#values.keys()].flatMap((text) => parseSubject(text) ?? []);
  }

  /** What a subject overrides, as it is stored. */
  values(subject: OverrideSubject): OverrideValues {
    return this.#values.get(subjectText(subject)) ?? NO_OVERRIDES;
  }

  /** What a tenant overrides, in the program's words. */
  tenantOverride(id: string): TenantOverrideConfig {
    return this.#stated.get(id) ?? NOTHING_STATED;
  }

  /** Whether a type was paused by hand. */
  isPaused(type: string): boolean {
    return this.values({ kind: 'type', name: type }).has(PAUSED);
  }

  /** Whether there is a tier of this name; `default`, with the default of every field, is there unasked. */
  isTier(name: string): boolean {
    return name === 'default' || this.file.tiers.has(name);
  }

  /** Puts what holds for a subject from now on in place of what held. True when that is something else. */
  set(subject: OverrideSubject, values: OverrideValues): boolean {
    if (isSame(values, this.values(subject))) return false;
    if (values.size === 0) this.#values.delete(subjectText(subject));
    else this.#values.set(subjectText(subject), values);
    this.#merge(subject);
    return true;
  }

  /** Names of the stored fields of a subject that mean nothing by this file. */
  ignored(subject: OverrideSubject): readonly string[] {
    const values = this.values(subject);
    if (subject.kind !== 'tenant') {
      const named = subject.kind === 'tier' ? this.file.tiers : this.file.types;
      if (!named.has(subject.name)) return [...values.keys()];
    }
    const { ignored, value } = readWritten(OVERRIDE_FIELDS[subject.kind], values);
    const goneTypes = [...values.keys()].filter((name) => {
      const [first, type = ''] = name.split('.');
      return first === 'types' && !this.file.types.has(type);
    });
    const goneTier = typeof value.tier === 'string' && !this.isTier(value.tier) ? ['tier'] : [];
    return [...new Set([...ignored.filter((name) => name !== PAUSED), ...goneTypes, ...goneTier])];
  }

  #merge(subject: OverrideSubject): void {
    const { kind, name } = subject;
    const { value } = readWritten(OVERRIDE_FIELDS[kind], this.values(subject));
    if (kind === 'tenant') this.#mergeTenant(name, value);
    else if (kind === 'tier') this.#mergeTier(name, value);
    else this.#mergeType(name, value);
  }

  #mergeTenant(id: string, value: unknown): void {
    const file = this.file.tenants.get(id);
    if (this.values({ kind: 'tenant', name: id }).size === 0) {
      this.#stated.delete(id);
      if (file === undefined) this.#tenants.delete(id);
      else this.#tenants.set(id, file);
      return;
    }
    const stated = tenantOverride(value);
    const tier = stated.tier !== null && this.isTier(stated.tier) ? stated.tier : null;
    this.#stated.set(id, { ...stated, tier });
    this.#tenants.set(id, {
      id,
      keys: file?.keys ?? [],
      allow: file?.allow ?? null,
      tier: tier ?? file?.tier ?? this.file.defaultTier,
      stated: { ...file?.stated, ...stated.stated },
      mode: stated.mode ?? file?.mode ?? null,
      types: mergedByType(file?.types, stated.types),
      typeModes: new Map([...(file?.typeModes ?? []), ...stated.typeModes]),
      webhook: tenantWebhook(stated.webhook, file?.webhook),
    });
  }

  #mergeTier(name: string, value: unknown): void {
    const file = this.file.tiers.get(name);
    if (file === undefined || !Check(OVERRIDE_FIELDS.tier, value)) return;
    const mode = value.mode ?? file.mode;
    this.#tiers.set(name, { ...file, stated: { ...file.stated, ...profileOverride(value) }, mode });
  }

  #mergeType(name: string, value: unknown): void {
    const file = this.file.types.get(name);
    if (file === undefined || !Check(OVERRIDE_FIELDS.type, value)) return;
    const capacity: Capacity = {
      ratePerSecond: value.capacity?.rate ?? file.capacity.ratePerSecond,
      burst: value.capacity?.burst ?? file.capacity.burst,
      concurrency: value.capacity?.concurrency ?? file.capacity.concurrency,
    };
    this.#types.set(name, { ...file, capacity });
  }
}

/** What a tenant overrides at run time. */
export interface TenantOverrideConfig extends Pick<TenantConfig, 'stated' | 'mode' | 'types' | 'typeModes'> {
  /** `null`: what the file says. */
  readonly tier: string | null;
  readonly webhook: TenantWebhookFields;
}

const NOTHING_STATED: TenantOverrideConfig = {
  tier: null,
  stated: {},
  mode: null,
  types: new Map(),
  typeModes: new Map<string, Mode>(),
  webhook: {},
};

function tenantOverride(value: unknown): TenantOverrideConfig {
  if (!Check(OVERRIDE_FIELDS.tenant, value)) return NOTHING_STATED;
  return {
    tier: value.tier ?? null,
    stated: profileOverride(value),
    mode: value.mode ?? null,
    types: new Map([...(value.types ?? [])].map(([type, stated]) => [type, profileOverride(stated)])),
    typeModes: modesByType(value.types),
    webhook: value.webhook ?? {},
  };
}

function mergedByType(
  file: ReadonlyMap<string, ProfileOverride> | undefined,
  over: ReadonlyMap<string, ProfileOverride>,
): ReadonlyMap<string, ProfileOverride> {
  const types = new Set([...(file?.keys() ?? []), ...over.keys()]);
  return new Map([...types].map((type) => [type, { ...file?.get(type), ...over.get(type) }]));
}

function isSame(a: OverrideValues, b: OverrideValues): boolean {
  return a.size === b.size && [...a].every(([name, text]) => b.get(name) === text);
}
