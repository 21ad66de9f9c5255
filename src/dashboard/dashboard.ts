import type { BrowserPage } from '../http/browser-page.js';
import { demandKey } from '../http/first-look.js';
import type { RedisLink } from '../redis/connection.js';
import { BucketSurvey } from '../shaping/bucket-survey.js';
import { addDoorCounts, readDoorCounts } from '../shaping/door-counts.js';
import { jobPayload } from '../shaping/job-payload.js';
import { recentWaits } from '../shaping/recent-waits.js';
import type { Settings } from '../shaping/settings.js';
import type { Shaping } from '../shaping/shaping.js';
import { assetRoutes } from './assets.js';
import { DoorFlush } from './door-flush.js';
import { payloadRoute } from './payload-route.js';
import { previewRoute } from './preview-route.js';
import { Reader } from './reader.js';
import { sessionRoutes } from './session-routes.js';
import { RedisSessions } from './session-store.js';
import { streamRoute } from './stream-route.js';

export interface DashboardParts {
  /** For commands; the caller's to close. */
  readonly redis: RedisLink;
  readonly shaping: Pick<Shaping, 'type'>;
  readonly settings: Settings;
  readonly version: string;
  readonly onError: (error: unknown) => void;
}

/** Jobs by which waits are told. */
const LATEST = 200;

/** The dashboard of an API process. */
export function dashboard({ redis, shaping, settings, version, onError }: DashboardParts): BrowserPage {
  const store = new RedisSessions(redis);
  const survey = new BucketSurvey(redis, settings);
  const typeNames = () => settings.typeNames();
  const reader = new Reader({
    survey,
    typeNames,
    type: (name) => shaping.type(name),
    doorCounts: (name, slots) => readDoorCounts(redis, name, slots),
    waits: (type, tenant) => recentWaits(redis, settings.shards.tagOf(type, tenant), tenant, LATEST),
    onError,
  });
  const flush = new DoorFlush((gathered) => addDoorCounts(redis, gathered));
  return {
    sessions: store,
    tally: flush,
    routes: async (app, parts) => {
      app.addHook('onListen', async () => reader.start());
      app.addHook('onClose', async () => {
        reader.stop();
        await flush.close();
      });
      sessionRoutes(app, parts, store);
      await app.register(async (scope) => assetRoutes(scope));
      await app.register(async (keyed) => {
        keyed.addHook('onRequest', demandKey(parts.keys, parts.sessions));
        streamRoute(keyed, parts, reader, version);
        previewRoute(keyed, survey, typeNames);
        payloadRoute(keyed, (tenant, id) => jobPayload(redis, settings.shards, tenant, id));
      });
    },
  };
}
