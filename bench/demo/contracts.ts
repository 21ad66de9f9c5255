import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import type { Entitlement } from './fairness.js';

/**
 * What each tenant of a configuration file is entitled to, as far as the demo judges it: the weight and rate of its tier.
 * @throws Error when the file states it in a way that this simple reading does not know.
 */
export function entitlements(configText: string): Entitlement[] {
  const config: unknown = parse(configText);
  return Object.entries(fieldOf(config, 'tenants')).map(([tenant, stated]) => {
    const tier = fieldOf(fieldOf(config, 'tiers'), tierOf(stated));
    return { tenant, weight: weightOf(tier), ratePerSecond: rateOf(tier) };
  });
}

/** The same for the configuration at `path`. */
export async function readEntitlements(path: string): Promise<Entitlement[]> {
  return entitlements(await readFile(path, 'utf8'));
}

function fieldOf(value: unknown, key: string): object {
  const field: unknown = Object.entries(value ?? {}).find(([name]) => name === key)?.[1];
  if (typeof field === 'object' && field !== null) return field;
  throw new Error(`the demo's configuration: no \`${key}\``);
}

function tierOf(tenant: unknown): string {
  if (typeof tenant === 'object' && tenant !== null && 'tier' in tenant) return String(tenant.tier);
  throw new Error("the demo's configuration: every tenant needs a `tier`");
}

function weightOf(tier: object): number {
  if ('weight' in tier && typeof tier.weight === 'number') return tier.weight;
  throw new Error("the demo's configuration: every tier needs a `weight`");
}

function rateOf(tier: object): number {
  if (!('rate' in tier)) throw new Error("the demo's configuration: every tier needs a `rate`");
  if (tier.rate === 'unlimited') return Infinity;
  const perSecond = /^(\d+(?:\.\d+)?)\/s$/.exec(String(tier.rate))?.[1];
  if (perSecond === undefined)
    throw new Error(`the demo's configuration: a rate is N/s or unlimited, not ${tier.rate}`);
  return Number(perSecond);
}
