import { LocalPolicer } from '../../../src/policing/local-policer.js';
import type { PolicerKind } from '../kinds.js';

/** A minute of uptime that is no whole number of milliseconds. */
const BEGIN_US = 60_000_123.4;

/** A policer in the process; for a window, the bucket that comes nearest. */
export const localKind: PolicerKind = {
  name: 'local',
  algorithm: 'token-bucket',
  async open() {
    let nowUs = BEGIN_US;
    const policer = new LocalPolicer({ maxKeys: 10_000, clock: () => nowUs });
    return {
      policer,
      nowUs: () => nowUs,
      advance(us) {
        nowUs += us;
      },
      close: async () => policer.close(),
    };
  },
};
