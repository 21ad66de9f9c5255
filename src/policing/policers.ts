import type { PolicyConfig } from '../config/policy-config.js';
import { LocalPolicer } from './local-policer.js';
import type { Policer } from './policer.js';

/** What the policers of a process share. */
export interface PolicerParts {
  /** The policer over Redis, whatever the number of policies; absent without Redis. */
  readonly redis: Policer | undefined;
}

/**
 * The policer of one policy.
 *
 * @throws Error when its limits are to stand in Redis and there is none.
 */
export function policerOf(policy: PolicyConfig, { redis }: PolicerParts): Policer {
  switch (policy.place) {
    case 'local':
      return localPolicerOf(policy);
    case 'redis':
    case 'leased':
      if (redis === undefined) throw new Error(`policy ${policy.name} needs Redis, and there is none`);
      return redis;
  }
}

/** Keeps the limits of one policy in this process. */
export function localPolicerOf({ maxKeys, share }: PolicyConfig): LocalPolicer {
  return new LocalPolicer({ maxKeys, share });
}
