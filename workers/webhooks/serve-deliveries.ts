import { NO_WEBHOOK } from '../../src/config/build-config.js';
import { DELIVERY_TYPE, deliveryType } from '../../src/config/delivery-type.js';
import type { LiveConfig } from '../../src/config/live-config.js';
import type { ServedType } from '../load-types.js';
import { webhookHandler } from './deliver.js';

/** Deliveries of webhooks as a type that a process serves beside those of the file; not where it is told to serve others. */
export function serveDeliveries({ view }: LiveConfig, types: readonly string[] | undefined): ServedType[] {
  if (types !== undefined && !types.includes(DELIVERY_TYPE)) return [];
  const { webhooks } = view;
  const webhookOf = (tenant: string) => view.tenants.get(tenant)?.webhook ?? NO_WEBHOOK;
  const handler = webhookHandler({ webhookOf, allowPrivate: webhooks.allowPrivate });
  return [{ config: deliveryType(webhooks), handler, slots: webhooks.slots }];
}
