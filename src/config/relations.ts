import { leastCost } from '../model/cost.js';
import { costRule, tenantKeys, workerKey } from './build-config.js';
import { checkHandlerOptions } from './built-in-handlers.js';
import type { ConfigFields, TenantFields } from './config-schema.js';
import { checkRouteCosts, checkTypeCosts } from './door-relations.js';
import { suggestName } from './nearest-name.js';
import { ANONYMOUS_TIER } from './policy-config.js';
import { checkPolicies } from './policy-relations.js';
import type { Path } from './problem.js';
import type { ProblemList } from './problem-list.js';
import { formatQuantity } from './quantity.js';
import { checkRedis } from './redis-relations.js';
import { checkRoutes } from './route-relations.js';
import { checkWebhooks } from './webhook-relations.js';

/**
 * Adds what is wrong between fields that are each fine by themselves. Fields that are not are left out of it.
 *
 * @param adminKeys Admin keys from outside the file.
 */
export function checkRelations(fields: ConfigFields, adminKeys: readonly string[], problems: ProblemList): void {
  checkRedis(fields.redis, problems);
  checkPolicies(fields.policies, problems);
  checkNames(fields, problems);
  checkTypes(fields, problems);
  checkHandlerOptions(fields, problems);
  checkSpacing(fields, problems);
  checkRoutes(fields.routes, problems);
  checkRouteCosts(fields, problems);
  checkTypeCosts(fields, problems);
  checkKeys(fields, [...fields.admin.keys, ...adminKeys], problems);
  checkWebhooks(fields, problems);
}

const PLURAL = { tier: 'tiers', type: 'types', policy: 'policies' } as const;

/** Names of tiers, types and policies stand for something that exists. */
function checkNames(fields: ConfigFields, problems: ProblemList): void {
  const { types, tiers, tenants, defaultTier, policies, routes, workers } = fields;
  const tierNames = [...new Set([...tiers.keys(), 'default'])];
  const known = { tier: tierNames, type: [...types.keys()], policy: [...policies.keys()] };
  const exists = (what: keyof typeof PLURAL, name: string | undefined, path: Path, names = known[what]) => {
    const listed = problems.sound([PLURAL[what]]) && problems.sound(path);
    if (name === undefined || !listed || names.includes(name)) return;
    problems.add(path, `there is no ${what} "${name}"; ${suggestName(name, names, PLURAL[what])}`);
  };
  const allExist = (allow: readonly string[] | undefined, path: Path) => {
    for (const [index, type] of allow?.entries() ?? []) exists('type', type, [...path, 'allow', index]);
  };

  exists('tier', defaultTier, ['defaultTier']);
  for (const [name, tier] of tiers) allExist(tier.allow, ['tiers', name]);
  for (const [id, tenant] of tenants) {
    const path = ['tenants', id];
    exists('tier', tenant.tier, [...path, 'tier']);
    allExist(tenant.allow, path);
    for (const type of tenant.types?.keys() ?? []) exists('type', type, [...path, 'types', type]);
  }
  for (const [index, entry] of workers.keys.entries()) {
    const path = ['workers', 'keys', index, 'types'];
    for (const [i, type] of typeof entry === 'string' ? [] : entry.types.entries()) exists('type', type, [...path, i]);
  }
  const callerTiers = [...tierNames, ANONYMOUS_TIER];
  for (const [name, { byTier }] of policies)
    for (const tier of byTier.keys()) exists('tier', tier, ['policies', name, 'byTier', tier], callerTiers);
  for (const [index, { policy }] of routes.entries()) exists('policy', policy, ['routes', index, 'policy']);
  for (const [name, { policy }] of types) exists('policy', policy, ['types', name, 'policy']);
}

/** Bounds of one type are in order. */
function checkTypes({ types }: ConfigFields, problems: ProblemList): void {
  for (const [name, { cost, backoff }] of types) {
    const path = ['types', name];
    if (backoff.delay > backoff.max && soundAll(problems, [...path, 'backoff'], ['delay', 'max'])) {
      const message = `the first wait, ${formatQuantity('duration', backoff.delay)}, is longer than the longest, ${formatQuantity('duration', backoff.max)}`;
      problems.add([...path, 'backoff', 'delay'], message);
    }
    if (typeof cost === 'number') continue;
    const [bounds, place] =
      'request' in cost ? [cost.request, [...path, 'cost', 'request']] : [cost, [...path, 'cost']];
    if (!soundAll(problems, place, ['min', 'max'])) continue;
    if (bounds.min > bounds.max) problems.add([...place, 'min'], `${bounds.min} is more than max, ${bounds.max}`);
    else if (cost.default !== undefined && problems.sound([...path, 'cost', 'default'])) {
      if (cost.default >= bounds.min && cost.default <= bounds.max) continue;
      problems.add(
        [...path, 'cost', 'default'],
        `${cost.default} is not between min, ${bounds.min}, and max, ${bounds.max}`,
      );
    }
  }
}

/** The clock of Redis counts whole microseconds: jobs closer together than one cannot be spaced. */
function checkSpacing({ types, tiers, tenants }: ConfigFields, problems: ProblemList): void {
  for (const [name, type] of types) {
    if (![['min'], ['request', 'min']].every((bound) => problems.sound(['types', name, 'cost', ...bound]))) continue;
    const cost = leastCost(costRule(type.cost));
    const check = (rate: number | undefined, path: Path) => {
      const fault = rate === undefined ? undefined : spacingFault(rate, name, cost);
      if (fault !== undefined && problems.sound(path)) problems.add(path, fault);
    };
    check(type.capacity.rate, ['types', name, 'capacity', 'rate']);
    for (const [tier, { rate }] of tiers) check(rate, ['tiers', tier, 'rate']);
    for (const [id, { rate, types }] of tenants) {
      const own = types?.get(name)?.rate;
      if (own === undefined) check(rate, ['tenants', id, 'rate']);
      else check(own, ['tenants', id, 'types', name, 'rate']);
    }
  }
}

/** Why jobs of a type that cost `cost` or more cannot leave at a rate; `undefined` when they can. */
export function spacingFault(rate: number, type: string, cost: number): string | undefined {
  const most = cost * 1e6;
  if (rate === Infinity || rate <= most) return undefined;
  return `${formatQuantity('rate', rate)} leaves less than 1 µs between jobs of type ${type}, which cost ${cost} or more; expected at most ${formatQuantity('rate', most)}, or unlimited`;
}

/** A key proves one tenant, a gateway, a worker, or an admin. */
function checkKeys(
  { tenants, gateways, workers }: ConfigFields,
  adminKeys: readonly string[],
  problems: ProblemList,
): void {
  const owners = new Map(adminKeys.map((key) => [key, 'an admin']));
  const own = (path: Path, key: string, holder: string, mayRepeat: boolean) => {
    if (key === '') return; // It stands in for one that was refused.
    const owner = owners.get(key);
    if (owner === undefined || (owner === holder && mayRepeat)) owners.set(key, holder);
    else problems.add(path, owner === holder ? 'this key stands here twice' : `this is the key of ${owner} too`);
  };
  for (const [index, key] of gateways.keys.entries()) own(['gateways', 'keys', index], key, 'a gateway', true);
  // Two entries of one key could name different types.
  for (const [index, fields] of workers.keys.entries()) {
    own(['workers', 'keys', index], workerKey(fields).key, 'a worker', false);
  }
  for (const [id, tenant] of tenants) {
    const path = ['tenants', id];
    if (tenant.key !== undefined && tenant.keys !== undefined)
      problems.add([...path, 'key'], 'say key or keys, not both');
    for (const key of tenantKeys(tenant)) {
      if (key === '') continue;
      const owner = owners.get(key);
      if (owner !== undefined) problems.add([...path, ...keyPlace(tenant, key)], `this is the key of ${owner} too`);
      else owners.set(key, `tenant ${JSON.stringify(id)}`);
    }
  }
}

function keyPlace(tenant: TenantFields, key: string): Path {
  return tenant.key === key ? ['key'] : ['keys', tenant.keys?.indexOf(key) ?? 0];
}

function soundAll(problems: ProblemList, path: Path, names: readonly string[]): boolean {
  return names.every((name) => problems.sound([...path, name]));
}
