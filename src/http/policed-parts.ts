import type { PolicyConfig } from '../config/policy-config.js';
import type { Policing } from '../policing/policing.js';
import type { RouteTable } from '../policing/route-table.js';

/** The policies, and which requests are held to which. */
export interface PolicedParts {
  readonly policing: Policing;
  /** What the policies say, by name: those that `policing` knows. */
  readonly policies: ReadonlyMap<string, PolicyConfig>;
  /** Names the policy of a request that a gateway forwards without naming one. */
  readonly routes: RouteTable;
}

/** Where there are no policies. */
export const NO_POLICIES: PolicedParts = {
  policing: {
    has: () => false,
    decide: async ({ policy }) => {
      throw new Error(`there is no policy ${JSON.stringify(policy)}`);
    },
    counts: () => [],
    close: async () => undefined,
  },
  policies: new Map(),
  routes: { find: () => undefined },
};
