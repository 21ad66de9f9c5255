import type { Config } from '../../../src/config/config.js';
import { LiveConfig } from '../../../src/config/live-config.js';
import { changedValues } from '../../../src/config/read-override.js';
import type { Administration } from '../../../src/shaping/administration.js';

/** Keeps changes in this process and has no jobs: what becomes of those is tested on Redis. */
export function scriptedAdministration(config: Config): Administration {
  const live = new LiveConfig(config);
  return {
    live,
    change: async (subject, change, replace) => {
      live.set(subject, changedValues(live.values(subject), change, replace));
      return 0;
    },
    isPaused: async () => false,
    pause: async () => undefined,
    pauseType: async () => undefined,
    purge: async () => ({ cancelled: 0, more: false }),
    erase: async () => ({ erased: 0, running: 0, more: false }),
    purgeType: async () => ({ cancelled: 0, more: false }),
    keys: {
      create: async () => undefined,
      list: async () => [],
      revoke: async () => false,
      tenants: async () => [],
    },
  };
}
