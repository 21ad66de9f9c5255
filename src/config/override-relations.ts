import { leastCost } from '../model/cost.js';
import type { Config } from './config.js';
import { LiveConfig } from './live-config.js';
import { suggestName } from './nearest-name.js';
import type { OverrideSubject } from './override-subject.js';
import type { OverrideValues } from './override-values.js';
import type { OverrideFault } from './read-override.js';
import { spacingFault } from './relations.js';
import { webhookUrlFault } from './webhook-relations.js';

/**
 * What is wrong with overrides whose fields are each fine by themselves: a tier or type that is not there, a webhook that
 * leads where none may, or a rate that leaves no time between two jobs.
 *
 * @param values All that would be overridden of the subject.
 */
export function overrideFault(
  live: LiveConfig,
  subject: OverrideSubject,
  values: OverrideValues,
): OverrideFault | undefined {
  const tier = subject.kind === 'tenant' ? values.get('tier') : undefined;
  if (tier !== undefined && !live.isTier(tier)) {
    const names = [...new Set([...live.file.tiers.keys(), 'default'])];
    return invalid('tier', `there is no tier "${tier}"; ${suggestName(tier, names, 'tiers')}`);
  }
  const types = [...live.file.types.keys()];
  for (const name of values.keys()) {
    const [first, type = ''] = name.split('.');
    if (first !== 'types' || live.file.types.has(type)) continue;
    return invalid(`types.${type}`, `there is no type "${type}"; ${suggestName(type, types, 'types')}`);
  }
  const webhookFault = webhookUrlFault(live, subject, values);
  if (webhookFault !== undefined) return invalid('webhook.url', webhookFault);
  return rateFault(live, subject, values);
}

/** Looks at the rates that would hold for the subject, on a copy with it alone. */
function rateFault(live: LiveConfig, subject: OverrideSubject, values: OverrideValues): OverrideFault | undefined {
  const { name } = subject;
  const changed = new LiveConfig(alone(live.view, live.file, subject));
  changed.set(subject, values);
  const { types, tiers, tenants } = changed.view;
  for (const [type, { cost, capacity }] of types) {
    const tenant = tenants.get(name);
    const ownRate = tenant?.types.get(type)?.ratePerSecond;
    const [field, rate] =
      subject.kind === 'type'
        ? ['capacity.rate', type === name ? capacity.ratePerSecond : undefined]
        : subject.kind === 'tier'
          ? ['rate', tiers.get(name)?.stated.ratePerSecond]
          : ownRate === undefined
            ? ['rate', tenant?.stated.ratePerSecond]
            : [`types.${type}.rate`, ownRate];
    const fault = rate === undefined ? undefined : spacingFault(rate, type, leastCost(cost));
    if (fault !== undefined) return invalid(field, fault);
  }
  return undefined;
}

function alone(view: Config, file: Config, { kind, name }: OverrideSubject): Config {
  const only = <V>(map: ReadonlyMap<string, V>) => {
    const value = map.get(name);
    return new Map(value === undefined ? [] : [[name, value]]);
  };
  return {
    ...view,
    types: file.types,
    tiers: kind === 'tier' ? only(file.tiers) : file.tiers,
    tenants: kind === 'tenant' ? only(file.tenants) : new Map(),
  };
}

function invalid(field: string, message: string): OverrideFault {
  return { kind: 'invalid', field, message };
}
