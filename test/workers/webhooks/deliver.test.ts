import type { IncomingHttpHeaders, RequestListener } from 'node:http';
import { text } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { TenantWebhook } from '../../../src/config/config.js';
import { newWebhookSecret } from '../../../src/config/webhook-secret.js';
import { WEBHOOK_EVENTS } from '../../../src/model/webhook.js';
import { busyUpstream, isUnrecoverable } from '../../../workers/handler.js';
import { signedHeaders, webhookHandler } from '../../../workers/webhooks/deliver.js';
import { Upstream } from '../handlers/http/upstream.js';
import { contextFor, jobWith } from '../handlers/running.js';

const SECRET = newWebhookSecret();
const BODY = '{"type":"job.completed","data":{"result":"ö"}}';

/** The outcome of one delivery of {@link BODY} to `url`. */
async function deliver(
  url: string | null,
  hook: Partial<TenantWebhook> = {},
  allowPrivate = true,
  signal?: AbortSignal,
) {
  const webhook = { url: null, events: WEBHOOK_EVENTS, secret: SECRET, ...hook };
  const handler = webhookHandler({ webhookOf: () => webhook, allowPrivate });
  const job = { ...jobWith({ data: { url, body: BODY } }), id: '01kcb6v0xk3t4m5n6p7q8r9s0t.headgate.webhook.0' };
  const run = (async () => handler.run(job, contextFor(signal)))();
  return run.then(
    (result) => ({ result, error: undefined }),
    (error: unknown) => ({ result: undefined, error }),
  );
}

async function receiver(listener: RequestListener): Promise<string> {
  const started = await Upstream.start(listener);
  onTestFinished(() => started.stop());
  return started.url;
}

const answering = (status: number, headers: Record<string, string> = {}) =>
  receiver((_, response) => void response.writeHead(status, headers).end('x'));

test('a signature is the one of the specification', () => {
  // The example that the specification gives.
  const headers = signedHeaders(
    'msg_p5jXN8AQM9LWM0D4loKWxJek',
    '{"test": 2432232314}',
    'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
    new Date(1614265330_000),
  );
  expect(headers).toMatchObject({
    'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  });
});

describe('a delivery', () => {
  test('is the body as it stands, signed with the secret of the tenant', async () => {
    const seen: { body: string; headers: IncomingHttpHeaders; method: string | undefined }[] = [];
    const url = await receiver(async (request, response) => {
      seen.push({ body: await text(request), headers: request.headers, method: request.method });
      response.writeHead(202).end();
    });
    expect((await deliver(url)).result).toEqual({ status: 202 });
    const [{ body, headers, method } = { body: '', headers: {}, method: '' }] = seen;
    expect([method, body, headers['content-type']]).toEqual(['POST', BODY, 'application/json']);
    expect(headers['webhook-id']).toBe('msg_01kcb6v0xk3t4m5n6p7q8r9s0t');
    const flat = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
    expect(new Webhook(SECRET).verify(body, flat)).toEqual(JSON.parse(BODY));
  });

  test("goes to the tenant's webhook as it is by then, where the job had none", async () => {
    const [own, tenants] = [await answering(200), await answering(201)];
    expect((await deliver(null, { url: tenants })).result).toEqual({ status: 201 });
    expect((await deliver(own, { url: tenants })).result).toEqual({ status: 200 });
  });

  test.each<[string, Partial<TenantWebhook>]>([
    ['the tenant has no webhook any more', {}],
    ['the tenant has no secret to sign with any more', { url: 'https://hooks.example/', secret: null }],
  ])('ends for good when %s', async (message, hook) => {
    const { error } = await deliver(null, hook);
    expect([isUnrecoverable(error), String(error)]).toEqual([true, expect.stringContaining(message)]);
  });

  test.each([
    [410, true],
    [301, false],
    [307, false],
    [400, false],
    [404, false],
    [429, false],
    [500, false],
    [503, false],
  ])('that is answered %i ends for good: %s', async (status, final) => {
    const elsewhere = await receiver(() => expect.unreachable('a redirect was followed'));
    const { error } = await deliver(await answering(status, { location: elsewhere }));
    expect(String(error)).toContain(`the receiver answered ${status}`);
    expect(isUnrecoverable(error)).toBe(final);
    expect(busyUpstream(error)).toBe(undefined);
  });

  test.each([429, 503])('that is answered %i with Retry-After waits as it says', async (status) => {
    const { error } = await deliver(await answering(status, { 'retry-after': '7' }));
    expect(busyUpstream(error)).toMatchObject({ retryAfterMs: 7000, scope: 'bucket' });
  });

  test('ends when it is asked to, though the receiver says nothing', async () => {
    const leave = new AbortController();
    const url = await receiver(() => leave.abort('timeout'));
    expect((await deliver(url, {}, true, leave.signal)).error).toBe('timeout');
  });
});

test.each(['http://127.0.0.1', 'http://localhost', 'http://[::1]'])(
  'nothing is sent to %s, whatever the door had let through, and the error names no address',
  async (origin) => {
    const asked: unknown[] = [];
    const url = new URL(await receiver((request) => void asked.push(request.url)));
    const { error } = await deliver(`${origin}:${url.port}/`, {}, false);
    expect(isUnrecoverable(error)).toBe(true);
    expect(String(error)).toMatch(/the webhook leads to an address that is not public$/);
    expect(asked).toEqual([]);
  },
);
