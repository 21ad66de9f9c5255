import type { IncomingMessage } from 'node:http';
import { Webhook } from 'standardwebhooks';
import type { TenantWebhook } from '../../src/config/config.js';
import { type Delivery, messageId } from '../../src/shaping/delivery.js';
import { defineHandler, type Handler, Unrecoverable, UpstreamBusy } from '../handler.js';
import { PrivateAddressError } from '../handlers/http/public-address.js';
import { reached } from '../handlers/http/reached.js';
import { retryAfterMs } from '../handlers/http/retry-after.js';
import { send } from '../handlers/http/send.js';

export interface DeliverParts {
  /** The webhook that a tenant has at this moment. */
  readonly webhookOf: (tenant: string) => TenantWebhook;
  /** Whether receivers may stand at addresses that are not public. */
  readonly allowPrivate: boolean;
}

/**
 * Delivers webhooks as Standard Webhooks has it (https://www.standardwebhooks.com): the same id and body every time, signed
 * anew with the secret that the tenant has by then. Any 2xx ends a delivery, 410 ends it for good, everything else is tried
 * again; a redirect is not followed. Of the answer, nothing but its head is read.
 */
export function webhookHandler({ webhookOf, allowPrivate }: DeliverParts): Handler {
  return defineHandler({
    run: async (job, ctx) => {
      const { url: own, body } = asDelivery(job.data);
      const { url: tenants, secret } = webhookOf(job.tenant);
      const url = own ?? tenants;
      if (url === null) throw new Unrecoverable('the tenant has no webhook any more');
      if (secret === null) throw new Unrecoverable('the tenant has no secret to sign with any more');
      const headers = signedHeaders(messageId(job.id), body, secret, new Date());
      const request = { url: new URL(url), method: 'POST', headers, allowPrivate };
      const response = await reached(() => sent(request, body, ctx.signal), ctx.signal);
      response.destroy();
      refuseFailure(response);
      return { status: response.statusCode };
    },
  });
}

/** The headers of one attempt; the instant is that of the attempt. */
export function signedHeaders(id: string, body: string, secret: string, at: Date): Record<string, string> {
  return {
    'content-type': 'application/json',
    'user-agent': 'headgate-webhooks',
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': new Webhook(secret).sign(id, at, body),
  };
}

async function sent(...request: Parameters<typeof send>): Promise<IncomingMessage> {
  try {
    return await send(...request);
  } catch (error) {
    if (error instanceof PrivateAddressError)
      throw new Unrecoverable('the webhook leads to an address that is not public');
    throw error;
  }
}

/** @throws What an answer that is no success means for the delivery. */
function refuseFailure({ statusCode = 0, headers }: IncomingMessage): void {
  if (statusCode >= 200 && statusCode < 300) return;
  const said = `the receiver answered ${statusCode}`;
  if (statusCode === 410) throw new Unrecoverable(`${said}: it wants no more of this`);
  if (statusCode === 429 || statusCode === 503) {
    const ms = retryAfterMs(headers['retry-after'], headers.date, Date.now());
    if (ms !== undefined) throw new UpstreamBusy(ms);
  }
  throw new Error(statusCode >= 300 && statusCode < 400 ? `${said}: redirects are not followed` : said);
}

function asDelivery(data: unknown): Delivery {
  const { url, body } = { url: undefined, body: undefined, ...Object(data) };
  if (typeof body !== 'string' || (url !== null && typeof url !== 'string')) throw new Unrecoverable('no delivery');
  return { url, body };
}
