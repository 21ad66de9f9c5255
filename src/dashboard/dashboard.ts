import type { Redis } from 'ioredis';
import type { BrowserPage } from '../http/browser-page.js';
import { NO_TALLY } from '../http/door-tally.js';
import { welcome } from '../http/routes/health.js';
import { sessionRoutes } from './session-routes.js';
import { RedisSessions } from './session-store.js';

export interface DashboardParts {
  /** For commands; the caller's to close. */
  readonly redis: Redis;
}

/** The dashboard of an API process. */
export function dashboard({ redis }: DashboardParts): BrowserPage {
  const store = new RedisSessions(redis);
  return {
    sessions: store,
    tally: NO_TALLY,
    routes: async (app, parts) => {
      welcome(app);
      sessionRoutes(app, parts, store);
    },
  };
}
