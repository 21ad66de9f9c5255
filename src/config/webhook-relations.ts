import type { ConfigFields } from './config-schema.js';
import type { LiveConfig } from './live-config.js';
import type { OverrideSubject } from './override-subject.js';
import type { OverrideValues } from './override-values.js';
import type { ProblemList } from './problem-list.js';
import { isPrivateUrl } from './webhook-url.js';

const NOT_PUBLIC = 'leads to an address that is not public; webhooks.allowPrivate allows that';

/** Webhooks of the file lead to where they may, and can be signed; a first wait is no longer than the longest. */
export function checkWebhooks({ tenants, webhooks }: ConfigFields, problems: ProblemList): void {
  const { delay, max } = webhooks.backoff;
  const isSound = ['delay', 'max'].every((field) => problems.sound(['webhooks', 'backoff', field]));
  if (delay > max && isSound)
    problems.add(['webhooks', 'backoff', 'delay'], 'the first wait is longer than the longest');
  for (const [id, { webhook }] of tenants) {
    const path = ['tenants', id, 'webhook'];
    if (webhook?.url === undefined || !problems.sound([...path, 'url'])) continue;
    if (!webhooks.allowPrivate && isPrivateUrl(webhook.url)) problems.add([...path, 'url'], NOT_PUBLIC);
    if (webhook.secret === undefined) problems.add([...path, 'secret'], 'required: without it nothing can be signed');
  }
}

/** What is wrong with where the overrides of a tenant lead to. */
export function webhookUrlFault(
  live: LiveConfig,
  { kind }: OverrideSubject,
  values: OverrideValues,
): string | undefined {
  const url = kind === 'tenant' ? values.get('webhook.url') : undefined;
  return url !== undefined && !live.file.webhooks.allowPrivate && isPrivateUrl(url) ? NOT_PUBLIC : undefined;
}
