import { effectiveProfile } from '../config/effective-profile.js';
import type { LiveConfig } from '../config/live-config.js';
import type { Profile } from '../model/profile.js';
import { Shards } from '../redis/shards.js';
import type { Settings, TypeSettings } from './settings.js';

/** The settings that hold at this moment: the file, and over it what administrators changed. */
export class LiveSettings implements Settings {
  readonly shards: Shards;
  readonly #live: LiveConfig;
  readonly #types: ReadonlyMap<string, TypeSettings>;

  constructor(live: LiveConfig) {
    this.#live = live;
    this.shards = new Shards(live.file.shards);
    this.#types = new Map([...live.file.types.keys()].map((name) => [name, liveType(live, name)]));
  }

  /** One object per type, whose capacity is always the one that holds. */
  type(name: string): TypeSettings | undefined {
    return this.#types.get(name);
  }

  typeNames(): readonly string[] {
    return [...this.#types.keys()];
  }

  profile(type: string, tenant: string): Profile {
    return effectiveProfile(this.#live.view, type, tenant);
  }
}

function liveType(live: LiveConfig, name: string): TypeSettings {
  const file = live.file.types.get(name);
  if (file === undefined) throw new Error(`type "${name}" is not configured`);
  const { slackUs, keepResults, attempts } = file;
  return {
    get capacity() {
      const { capacity } = live.view.types.get(name) ?? file;
      // A type that was paused by hand is one whose rate is 0 meanwhile.
      return live.isPaused(name) ? { ...capacity, ratePerSecond: 0 } : capacity;
    },
    keepResults,
    attempts,
    ...(slackUs !== undefined && { slackUs }),
  };
}
