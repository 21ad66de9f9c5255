import { type Capacity, DEFAULT_CAPACITY, type Profile } from '../model/profile.js';
import type { WebhookEvent } from '../model/webhook.js';
import type { Shards } from '../redis/shards.js';

/** What shaping must know of a job type. */
export interface TypeSettings {
  readonly capacity: Capacity;
  /** The type's own slack in microseconds; the rule of the model when absent. */
  readonly slackUs?: number;
  /** How long results live, in milliseconds, and how many of a tenant's are kept. */
  readonly keepResults: { readonly ageMs: number; readonly count: number };
  /** How often a job is tried in all. */
  readonly attempts: number;
}

/** Who is entitled to what, as the configuration and its overrides say at this moment. */
export interface Settings {
  /** `undefined` for a type that is not configured. */
  type(name: string): TypeSettings | undefined;
  typeNames(): readonly string[];
  /** Where buckets stand. */
  readonly shards: Shards;
  profile(type: string, tenant: string): Profile;
  /** Ends of its jobs that the tenant wants to be told; none where nobody says. */
  webhookEvents?(tenant: string): readonly WebhookEvent[];
}

/** Settings of a type that is known to be configured. */
export function typeSettings(settings: Settings, type: string): TypeSettings {
  const found = settings.type(type);
  if (!found) throw new Error(`type "${type}" is not configured`);
  return found;
}

/** What holds of a type that is not configured any more, while something is left of it. */
export const GONE_TYPE: TypeSettings = {
  capacity: DEFAULT_CAPACITY,
  keepResults: { ageMs: 3_600_000, count: 1000 },
  attempts: 1,
};
