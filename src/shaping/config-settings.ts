import type { Config, TypeConfig } from '../config/config.js';
import { effectiveProfile } from '../config/effective-profile.js';
import { Shards } from '../redis/shards.js';
import type { Settings, TypeSettings } from './settings.js';

/** The settings that a configuration states. */
export function configSettings(config: Config): Settings {
  const types = new Map([...config.types].map(([name, type]) => [name, typeSettingsOf(type)]));
  return {
    type: (name) => types.get(name),
    typeNames: () => [...types.keys()],
    shards: new Shards(config.shards),
    profile: (type, tenant) => effectiveProfile(config, type, tenant),
  };
}

function typeSettingsOf({ capacity, slackUs, keepResults, attempts }: TypeConfig): TypeSettings {
  return { capacity, keepResults, attempts, ...(slackUs !== undefined && { slackUs }) };
}
