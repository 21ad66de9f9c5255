import { Type } from 'typebox';
import { NO_WEBHOOK } from '../config/build-config.js';
import type { LiveConfig } from '../config/live-config.js';
import type { OverrideSubject } from '../config/override-subject.js';
import { changedValues, type OverrideChange } from '../config/read-override.js';
import { newWebhookSecret } from '../config/webhook-secret.js';
import { EVENT_NAME } from './job-request.js';
import { ownMember } from './json-pointer.js';

/** A tenant's webhook, for an administrator. */
export const TenantWebhookResource = Type.Object({
  url: Type.Union([Type.String(), Type.Null()]),
  events: Type.Array(EVENT_NAME),
  signed: Type.Boolean({ description: 'there is a secret; it is not shown' }),
});

export function tenantWebhookResource({ view }: LiveConfig, id: string): Type.Static<typeof TenantWebhookResource> {
  const { url, events, secret } = view.tenants.get(id)?.webhook ?? NO_WEBHOOK;
  return { url, events: [...events], signed: secret !== null };
}

const SECRET = 'webhook.secret';

/**
 * A change of a tenant's overrides with a secret to sign with: where the request speaks of the webhook and no secret would
 * hold afterwards, there is a new one, which is shown this once. Who replaces the webhook without a word on the secret
 * keeps it: nobody could repeat it.
 */
export function withWebhookSecret(
  live: LiveConfig,
  subject: OverrideSubject,
  body: unknown,
  change: OverrideChange,
  replace: boolean,
): { readonly change: OverrideChange; readonly made?: string } {
  const stated = ownMember(body, 'webhook');
  if (subject.kind !== 'tenant' || typeof stated !== 'object' || stated === null) return { change };
  const held = live.values(subject);
  const kept = change.has(SECRET) ? undefined : held.get(SECRET);
  const whole = replace && kept !== undefined ? new Map([...change, [SECRET, kept]]) : change;
  const inFile = live.file.tenants.get(subject.name)?.webhook.secret ?? null;
  if (inFile !== null || changedValues(held, whole, replace).has(SECRET)) return { change: whole };
  const made = newWebhookSecret();
  return { change: new Map([...whole, [SECRET, made]]), made };
}
