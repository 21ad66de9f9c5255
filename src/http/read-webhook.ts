import { formatPath, type Path } from '../config/problem.js';
import { isPrivateUrl, webhookUrl } from '../config/webhook-url.js';
import { type JobWebhook, WEBHOOK_EVENTS } from '../model/webhook.js';
import type { Door } from './door.js';
import type { BatchItem } from './job-request.js';
import { accepted, type Checked, refused } from './problems.js';

/** Where a job says that its end is to be told; `undefined` when it says nothing. */
export function readWebhook(
  door: Door,
  tenant: string,
  stated: BatchItem['webhook'],
  at: Path,
): Checked<JobWebhook | undefined> {
  if (stated === undefined) return accepted(undefined);
  const { signed, allowPrivate } = door.webhooks(tenant);
  const url = webhookUrl(stated.url);
  if ('fault' in url) return bad([...at, 'webhook', 'url'], url.fault);
  if (!allowPrivate && isPrivateUrl(url.value)) {
    return bad([...at, 'webhook', 'url'], 'it leads to an address that is not public');
  }
  if (!signed) return bad([...at, 'webhook'], 'the tenant has no secret to sign with; an administrator gives it one');
  const events = WEBHOOK_EVENTS.filter((event) => stated.events?.includes(event) ?? true);
  return accepted({ url: url.value, events });
}

function bad(path: Path, reason: string): Checked<never> {
  const field = formatPath(path);
  return refused({ code: 'invalid_field', field, detail: `\`${field}\`: ${reason}.` });
}
