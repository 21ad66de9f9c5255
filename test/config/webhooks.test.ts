import { describe, expect, test } from 'vitest';
import { LiveConfig } from '../../src/config/live-config.js';
import { overrideFault } from '../../src/config/override-relations.js';
import { OVERRIDE_FIELDS } from '../../src/config/override-schema.js';
import { overridesAsJson, withoutSecrets } from '../../src/config/override-values.js';
import { changedValues, readOverride } from '../../src/config/read-override.js';
import { newWebhookSecret, webhookSecret } from '../../src/config/webhook-secret.js';
import { isPrivateUrl, LONGEST_WEBHOOK_URL, webhookUrl } from '../../src/config/webhook-url.js';
import { loadText, problemsOf } from './loading.js';

const SECRET = newWebhookSecret();
const bytes = (count: number): string => `whsec_${Buffer.alloc(count, 200).toString('base64')}`;

test.each([
  ['https://hooks.example/a?b=c', 'https://hooks.example/a?b=c'],
  ['HTTP://Hooks.EXAMPLE:80/a b', 'http://hooks.example/a%20b'],
  ['https://hooks.example/#fragment', 'https://hooks.example/'],
  ['https://bücher.example/', 'https://xn--bcher-kva.example/'],
])('the URL %s has one spelling', (written, url) => {
  expect(webhookUrl(written)).toEqual({ value: url });
});

test.each([
  '',
  'hooks.example/a',
  '/a',
  'ftp://hooks.example/a',
  'file:///etc/passwd',
  'javascript:alert(1)',
  'https://',
  'https://user@hooks.example/',
  'https://:password@hooks.example/',
  `https://hooks.example/${'x'.repeat(LONGEST_WEBHOOK_URL)}`,
  // Short as it is written, but not as it is sent.
  `https://hooks.example/${'é'.repeat(LONGEST_WEBHOOK_URL / 2)}`,
])('%j is no URL of a webhook', (written) => {
  expect(webhookUrl(written)).toHaveProperty('fault');
});

test.each([
  'http://127.0.0.1/',
  'http://0x7f.1/',
  'http://2130706433/',
  'http://10.1.2.3:8080/x',
  'http://169.254.169.254/latest/meta-data',
  'http://[::1]/',
  'http://[::ffff:10.0.0.1]/',
  'http://[fd00::1]/',
  'http://localhost/',
  'http://LOCALHOST./',
  'http://a.localhost:9/',
])('%s says itself that it leads to no public address', (url) => {
  expect(isPrivateUrl(new URL(url).href)).toBe(true);
});

test.each([
  'https://hooks.example/',
  'http://93.184.216.34/',
  'http://[2606:4700::1111]/',
  'http://localhost.example/',
])('%s may lead to a public address', (url) => {
  expect(isPrivateUrl(url)).toBe(false);
});

test.each([bytes(24), bytes(64), SECRET])('%s is a secret', (secret) => {
  expect(webhookSecret(secret, {})).toEqual({ value: secret });
  expect(webhookSecret('env:HOOK', { HOOK: secret })).toEqual({ value: secret });
});

test.each([bytes(23), bytes(65), 'whsec_', 'whsec_****', SECRET.slice(6), `${SECRET} `, `whsec_${bytes(24)}`])(
  '%j is no secret, and no message repeats it',
  (secret) => {
    for (const read of [webhookSecret(secret, {}), webhookSecret('env:HOOK', { HOOK: secret })]) {
      expect(read).toHaveProperty('fault');
      if (secret.length > 8) expect(JSON.stringify(read)).not.toContain(secret.slice(7));
    }
  },
);

describe('a file is refused', () => {
  test.each([
    ['webhook: {url: ftp://x}', 'tenants.acme.webhook.url: expected an http or https URL'],
    [
      `webhook: {url: http://10.0.0.1/, secret: ${SECRET}}`,
      'tenants.acme.webhook.url: leads to an address that is not',
    ],
    ['webhook: {url: https://hooks.example/}', 'tenants.acme.webhook.secret: required'],
    ['webhook: {secret: whsec_short}', 'tenants.acme.webhook.secret: expected whsec_'],
    ['webhook: {secret: env:NOBODY}', 'tenants.acme.webhook.secret: the environment variable NOBODY is not set'],
    ['webhook: {events: [done]}', 'tenants.acme.webhook.events[0]: expected'],
    ['webhook: {evnts: []}', 'tenants.acme.webhook.evnts: unknown field; did you mean "events"?'],
  ])('for %s', async (line, problem) => {
    const [told, ...others] = await problemsOf(`types: {}\ntenants: { acme: { ${line} } }\n`);
    expect(told).toContain(problem);
    expect(others).toEqual([]);
  });

  test('for a first wait between two tries that is longer than the longest', async () => {
    expect(await problemsOf('types: {}\nwebhooks: { backoff: { delay: 1m, max: 5s } }\n')).toEqual([
      expect.stringContaining('webhooks.backoff.delay: the first wait is longer than the longest'),
    ]);
  });
});

describe('at run time', () => {
  const subject = { kind: 'tenant', name: 'acme' } as const;
  const changed = async (live: LiveConfig, body: unknown): Promise<string | undefined> => {
    const read = readOverride(OVERRIDE_FIELDS.tenant, body, live.values(subject));
    if ('fault' in read) return read.fault.field;
    const values = changedValues(live.values(subject), read.change, false);
    const fault = overrideFault(live, subject, values);
    if (fault === undefined) live.set(subject, values);
    return fault?.field;
  };

  test('each field goes before that of the file, and null goes back to it', async () => {
    const live = new LiveConfig(
      await loadText(`types: {}\ntenants: { acme: { webhook: { url: https://a.example/, secret: ${bytes(24)} } } }\n`),
    );
    const webhook = () => live.view.tenants.get('acme')?.webhook;
    expect(await changed(live, { webhook: { url: 'https://b.example', events: ['failed'], secret: SECRET } })).toBe(
      undefined,
    );
    expect(webhook()).toEqual({ url: 'https://b.example/', events: ['failed'], secret: SECRET });
    const schema = OVERRIDE_FIELDS.tenant;
    expect(overridesAsJson(schema, withoutSecrets(schema, live.values(subject)))).toEqual({
      webhook: { url: 'https://b.example/', events: ['failed'] },
    });
    expect(await changed(live, { webhook: { url: null } })).toBe(undefined);
    expect(webhook()).toEqual({ url: 'https://a.example/', events: ['failed'], secret: SECRET });
    expect(await changed(live, { webhook: null })).toBe(undefined);
    expect(webhook()?.secret).toBe(bytes(24));
    expect(live.ignored(subject)).toEqual([]);
  });

  test.each([
    [{ url: 'gopher://x' }, 'webhook.url'],
    [{ url: 'http://192.168.0.1/' }, 'webhook.url'],
    [{ url: 7 }, 'webhook.url'],
    [{ events: ['done'] }, 'webhook.events[0]'],
    [{ events: 'failed' }, 'webhook.events'],
    [{ secret: 'env:HOME' }, 'webhook.secret'],
    [{ uri: 'https://x.example/' }, 'webhook.uri'],
    ['https://x.example/', 'webhook'],
  ])('%j is refused, naming %s', async (webhook, field) => {
    const live = new LiveConfig(await loadText('types: {}\n'));
    expect(await changed(live, { webhook })).toBe(field);
    expect(live.view.tenants.has('acme')).toBe(false);
  });
});
