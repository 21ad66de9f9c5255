import { NO_WEBHOOK } from '../config/build-config.js';
import type { Config } from '../config/config.js';
import { DELIVERY_TYPE, deliveryProfile, deliveryType } from '../config/delivery-type.js';
import type { Settings, TypeSettings } from './settings.js';

/**
 * Settings in which webhooks are delivered: beside the types of the file, whose names alone are listed, there is that of
 * deliveries, and jobs are marked for what their tenants want to be told.
 *
 * @param config As it holds at each moment.
 */
export function deliverySettings(settings: Settings, config: Config): Settings {
  const { capacity, keepResults, attempts } = deliveryType(config.webhooks);
  const deliveries: TypeSettings = { capacity, keepResults, attempts };
  const profile = deliveryProfile(config.webhooks);
  return {
    type: (name) => (name === DELIVERY_TYPE ? deliveries : settings.type(name)),
    typeNames: () => settings.typeNames(),
    shards: settings.shards,
    profile: (type, tenant) => (type === DELIVERY_TYPE ? profile : settings.profile(type, tenant)),
    webhookEvents: (tenant) => {
      const { url, events } = config.tenants.get(tenant)?.webhook ?? NO_WEBHOOK;
      return url === null ? [] : events;
    },
  };
}
