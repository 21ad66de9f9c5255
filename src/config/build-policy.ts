import type { PolicyConfig, RouteConfig } from './policy-config.js';
import { algorithmOf, limitsOf, placeOf } from './policy-limits.js';
import { POLICY_DEFAULTS, type PolicyFields } from './policy-schema.js';
import type { RouteFields } from './route-schema.js';

/** A policy in the program's words, from fields that were read and found to agree. */
export function policyConfig(name: string, fields: PolicyFields): PolicyConfig {
  const algorithm = algorithmOf(fields);
  return {
    name,
    place: placeOf(algorithm),
    limits: limitsOf(fields, algorithm),
    byTier: new Map([...fields.byTier].map(([tier, stated]) => [tier, limitsOf(stated, algorithm)])),
    onOutage: fields.onOutage,
    enforce: fields.enforce,
    retryJitter: fields.retryJitter,
    deadlineMs: fields.deadline,
    maxKeys: fields.maxKeys ?? POLICY_DEFAULTS.maxKeys,
    share: fields.share ?? POLICY_DEFAULTS.share,
    leaseMs: fields.lease ?? POLICY_DEFAULTS.leaseMs,
  };
}

export function routeConfig({ method, path, policy, cost }: RouteFields): RouteConfig {
  return { method, path, policy, cost };
}
