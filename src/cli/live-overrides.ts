import { configWarnings } from '../config/config-warnings.js';
import type { LiveConfig } from '../config/live-config.js';
import { OVERRIDE_FIELDS } from '../config/override-schema.js';
import { withoutSecrets } from '../config/override-values.js';
import { formatPath } from '../config/problem.js';
import { closeConnection, openConnection, type RedisLink } from '../redis/connection.js';
import { onServer } from '../redis/masters.js';
import { isPassing } from '../redis/outage.js';
import type { ClusterTarget, RedisTarget } from '../redis/redis-target.js';
import { loadLibrary } from '../redis/script.js';
import { Subscriber } from '../redis/subscriber.js';
import { type Administration, administration } from '../shaping/administration.js';
import { applyChanges } from '../shaping/apply-changes.js';
import type { OnCancelled } from '../shaping/bucket-control.js';
import { type KeyDirectory, RemoteKeyDirectory } from '../shaping/key-directory.js';
import { openTypeSource } from '../shaping/open-type-source.js';
import { OverrideFollower } from '../shaping/override-follower.js';
import { library as overrideLibrary } from '../shaping/override-scripts.js';
import { OverrideStore } from '../shaping/override-store.js';
import { library } from '../shaping/scripts.js';
import type { Settings } from '../shaping/settings.js';
import { OtherData, refuseOtherData, storedTypes } from '../shaping/stored-data.js';
import { syncProfiles } from '../shaping/sync-profiles.js';
import { RedisTenantKeys } from '../shaping/tenant-keys.js';
import type { Logger } from '../telemetry/logger.js';

export interface OverrideParts {
  readonly live: LiveConfig;
  readonly settings: Settings;
  /** For commands; the caller's to close. */
  readonly commands: RedisLink;
  /** For a connection of its own, which hears of changes. */
  readonly target: RedisTarget | ClusterTarget;
  readonly log: Logger;
  /** What is stored is not such as this process can go on with. */
  readonly onOtherData: (error: OtherData) => void;
  readonly onCancelled: OnCancelled;
}

/** The overrides of this process, followed from now on. */
export interface LiveOverrides {
  readonly admin: Administration;
  /** Keys that are made while everything runs. */
  readonly directory: KeyDirectory;
  /** Hears what is published, over the same connection. */
  readonly subscriber: Subscriber;
  /** Resolves once they were read for the first time, or could not be. To be called once Redis was tried. */
  tried(): Promise<void>;
  close(): Promise<void>;
}

const DEADLINE_MS = 2000;
const PLACES = { tenant: 'tenants', tier: 'tiers', type: 'types' } as const;

/**
 * Follows what administrators change, here and in other processes: the configuration of this process is kept in step, and
 * what already waits is re-timed, now and whenever Redis comes back. Redis need not be there.
 */
export function followOverrides(parts: OverrideParts): LiveOverrides {
  const { live, settings, commands, target, log, onOtherData, onCancelled } = parts;
  const messages = openConnection(target, { name: 'api-messages', deadlineMs: DEADLINE_MS });
  const subscriber = new Subscriber(messages);
  const store = new OverrideStore(commands);
  const schedule = { redis: commands, live, settings };
  const onError = (error: unknown) => log.error({ err: error }, 'a change could not be applied to what waits');
  const follower = new OverrideFollower(store, live, subscriber, {
    onChange: async (subjects) => {
      await applyChanges(schedule, subjects);
    },
    onError,
  });
  follower.start();
  const directory = new RemoteKeyDirectory(new RedisTenantKeys(commands), subscriber);

  let firstRead: Promise<unknown> = Promise.resolve();
  const tellOverrides = once(() => logOverrides(live, log));
  const tellWarnings = once(() => logWarnings(live, log));
  const refresh = async (): Promise<void> => {
    try {
      await Promise.all([library, overrideLibrary].map((each) => loadLibrary(commands, each)));
      if (!(await follower.reload({ silent: true }))) return;
      tellOverrides();
      tellWarnings();
    } catch (error) {
      if (!isPassing(error)) onError(error);
    }
  };
  const catchUp = async (): Promise<void> => {
    try {
      await claimData(commands, settings);
      for (const type of settings.typeNames()) {
        const buckets = await syncProfiles(commands, settings, type);
        if (buckets > 0) log.info({ type, buckets }, 'profiles changed: what waits was re-timed');
      }
    } catch (error) {
      if (error instanceof OtherData) onOtherData(error);
      else if (!isPassing(error)) onError(error);
    }
  };
  onServer(commands, () => {
    firstRead = refresh();
    void firstRead.then(catchUp);
  });

  return {
    ...{ directory, subscriber },
    admin: administration({ ...schedule, store, follower, onCancelled }),
    tried: async () => {
      await firstRead;
      tellWarnings();
    },
    close: async () => {
      await follower.stop();
      directory.close();
      closeConnection(messages);
    },
  };
}

/** Tells Redis of all types, which from then on are spread as the configuration says. Throws OtherData where they are not. */
async function claimData(redis: RedisLink, settings: Settings): Promise<void> {
  const types = storedTypes(settings);
  await refuseOtherData(redis, types, settings.shards.count);
  for (const type of types) await openTypeSource(redis, type, settings, { worker: '', lockMs: 0 }).configure();
}

/** For whoever reads the file: what overrides it. */
function logOverrides(live: LiveConfig, log: Logger): void {
  for (const subject of live.subjects()) {
    const place = formatPath([PLACES[subject.kind], subject.name]);
    const overrides = Object.fromEntries(withoutSecrets(OVERRIDE_FIELDS[subject.kind], live.values(subject)));
    log.info({ place, overrides }, 'overridden at run time');
    const ignored = live.ignored(subject);
    if (ignored.length > 0) log.warn({ place, ignored }, 'overrides that mean nothing by this configuration');
  }
}

function logWarnings(live: LiveConfig, log: Logger): void {
  for (const { message, ...about } of configWarnings(live.view)) log.warn(about, message);
}

function once(act: () => void): () => void {
  let isDone = false;
  return () => {
    if (!isDone) act();
    isDone = true;
  };
}
