import { DEFAULT_CAPACITY, DEFAULT_PROFILE, type Profile } from '../model/profile.js';
import type { TypeConfig, WebhooksConfig } from './config.js';

/** The type whose jobs are deliveries of webhooks. No type of a file has a dot in its name. */
export const DELIVERY_TYPE = 'headgate.webhook';

const HOUR_MS = 3_600_000;

/** Deliveries as a job type. Each tenant has its bucket, as in any other. */
export function deliveryType({ timeoutMs, attempts, backoff }: WebhooksConfig): TypeConfig {
  return {
    name: DELIVERY_TYPE,
    handler: null,
    mode: 'shape',
    policy: null,
    cost: { kind: 'fixed', cost: 1 },
    dataSchema: null,
    capacity: DEFAULT_CAPACITY,
    timeoutMs,
    attempts,
    backoff,
    retry: 'back',
    maxHoldMs: HOUR_MS / 12,
    maxReturns: 10,
    threadMemoryBytes: 0,
    // So long a delivery that is made twice from one end of a job is known for the same.
    keepResults: { ageMs: HOUR_MS, count: 1000 },
    slackUs: undefined,
    maxPayloadBytes: Infinity,
    options: {},
  };
}

/** What every tenant is entitled to in it. */
export function deliveryProfile({ ratePerSecond, perTenant, depth, maxBytes }: WebhooksConfig): Profile {
  return { ...DEFAULT_PROFILE, ratePerSecond, concurrency: perTenant, depth, maxBytes };
}
