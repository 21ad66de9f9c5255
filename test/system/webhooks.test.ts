import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { textField } from '../referee/json-field.js';
import type { Witness } from '../referee/witness.js';
import type { HeadgateProcess } from '../support/headgate-process.js';
import { ADMIN_KEY, idOf, type RefereedSystem, refereedSystem } from './support/refereed-system.js';
import { type Received, WebhookReceiver } from './support/webhook-receiver.js';

const FILE_SECRET = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;
const WORKERS = ['--types', 'a,headgate.webhook', '--concurrency', 'a=2'];

let receiver: WebhookReceiver;
let system: RefereedSystem;
let api: HeadgateProcess;
let worker: HeadgateProcess;
let witness: Witness;

beforeAll(async () => {
  vi.stubEnv('FILE_HOOK', FILE_SECRET);
  receiver = await WebhookReceiver.start();
  system = await refereedSystem(
    {
      lockDuration: '500ms',
      stalledInterval: '100ms',
      types: { a: { attempts: 1 }, elsewhere: { handler: undefined, options: undefined } },
      tiers: { only: { rate: 'unlimited', depth: 100 } },
      defaultTier: 'only',
      tenants: { filed: { webhook: { url: receiver.url('/filed'), events: ['failed'], secret: 'env:FILE_HOOK' } } },
      webhooks: { allowPrivate: true, attempts: 6, backoff: { delay: '20ms', max: '50ms' } },
    },
    {
      separateClocks: true,
      types: [{ type: 'a', slots: 2, capacity: {} }],
      buckets: [],
      otherwise: { ratePerSecond: null, depth: 100 },
    },
    { arrivalMs: 500 },
  );
  receiver.secrets.set('/filed', FILE_SECRET);
  api = await system.folder.start('serve');
  worker = await system.folder.start('work', WORKERS);
  witness = system.witness(api.url);
});
afterAll(async () => {
  await system?.end();
  await receiver?.stop();
  vi.unstubAllEnvs();
});

async function send(method: 'PATCH' | 'POST', path: string, body: object): Promise<unknown> {
  const response = await fetch(`${api.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${ADMIN_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return response.json();
}

/** A tenant whose jobs are told at `/<tenant>`. */
async function hookUp(tenant: string): Promise<void> {
  const webhook = { url: receiver.url(`/${tenant}`) };
  const secret = textField(await send('PATCH', `/v1/tenants/${tenant}`, { webhook }), 'webhookSecret');
  if (secret === undefined) throw new Error('no secret was made');
  receiver.secrets.set(`/${tenant}`, secret);
}

const job = (tenant: string, more: object = {}) => witness.enqueue({ type: 'a', tenant, cost: 1, ...more });

const message = (type: string, id: string, tenant: string, more: object) => ({
  type: `job.${type}`,
  timestamp: expect.stringMatching(/^\d{4}-.*Z$/),
  data: { id, type: 'a', tenant, state: type, ...more },
});

const oneId = (received: readonly Received[]) => new Set(received.map(({ id }) => id));

describe('webhooks', () => {
  it('tell a tenant of the end of its job, again under one id until the receiver answers 2xx', async () => {
    await hookUp('one');
    receiver.answering = (_, nth) => [500, 302][nth - 1] ?? 204;
    const id = idOf(await job('one'));
    const received = await receiver.until('/one', 3);
    const told = message('completed', id, 'one', { result: { run: expect.any(Number) } });
    expect(received.map(({ verified }) => verified)).toEqual([told, told, told]);
    expect(new Set(received.map(({ body }) => body)).size).toBe(1);
    expect([...oneId(received)]).toEqual([expect.stringMatching(/^msg_[0-9a-z]{26}$/)]);
    expect(receiver.at('/elsewhere')).toEqual([]);
  });

  it('never show the secret again, neither to an administrator nor in a log', async () => {
    const secret = receiver.secrets.get('/one') ?? '';
    expect(JSON.stringify(await system.get(api.url, '/v1/tenants/one'))).not.toContain(secret.slice(6));
    for (const each of [api, worker]) expect(each.lines.join('\n')).not.toContain(secret.slice(6));
  });

  it('tell of jobs that failed, expired or were cancelled, each why', async () => {
    receiver.answering = () => 200;
    await hookUp('two');
    const failed = idOf(await job('two', { data: { fail: true } }));
    const blocking = [1, 2].map(() => job('two', { data: { workMs: 3000 } }));
    const cancelled = idOf(await job('two', { delayMs: 60_000 }));
    await witness.cancel('two', cancelled);
    await Promise.all(blocking);
    const startBy = new Date(Date.now() + 1000).toISOString();
    const expired = idOf(await job('two', { startBy }));
    const told = (await receiver.until('/two', 5)).map(({ verified }) => verified);
    expect(told).toContainEqual(message('failed', failed, 'two', { error: 'attempt 1 was to fail' }));
    expect(told).toContainEqual(message('cancelled', cancelled, 'two', { error: 'cancelled' }));
    expect(told).toContainEqual(message('expired', expired, 'two', { error: 'expired' }));
  });

  it('go where the job says, of the ends that it names, and in the file where and of what the file says', async () => {
    const own = { url: receiver.url('/own'), events: ['completed'] };
    receiver.secrets.set('/own', FILE_SECRET);
    const [done, failed, plain] = [
      idOf(await job('filed', { webhook: own })),
      idOf(await job('filed', { webhook: own, data: { fail: true } })),
      idOf(await job('filed', { data: { fail: true } })),
    ];
    await job('filed');
    const [first] = await receiver.until('/own', 1);
    expect(first?.verified).toMatchObject(message('completed', done, 'filed', {}));
    const [second] = await receiver.until('/filed', 1);
    expect(second?.verified).toMatchObject(message('failed', plain, 'filed', {}));
    await witness.followToEnds();
    expect(receiver.received.some(({ body }) => body.includes(failed))).toBe(false);
  });

  it('tell of jobs that a worker elsewhere has done over HTTP', async () => {
    const before = receiver.at('/one').length;
    const posted = await send('POST', '/v1/jobs', { type: 'elsewhere', tenant: 'one', data: {} });
    const run = { id: textField(posted, 'id'), tenant: 'one', claim: 'a-claim-of-this-test' };
    await send('POST', '/v1/workers/claim', { type: 'elsewhere', claim: run.claim });
    await send('POST', '/v1/workers/complete', { ...run, result: 7 });
    const received = await receiver.until('/one', before + 1);
    expect(received.at(-1)?.verified).toMatchObject({ type: 'job.completed', data: { id: run.id, result: 7 } });
  });

  it('of one tenant do not delay those of another, however slow its receivers are', async () => {
    await hookUp('slow');
    receiver.answering = ({ path }) => (path === '/slow' ? undefined : 200);
    for (let i = 0; i < 6; i += 1) await job('slow');
    await receiver.until('/slow', 4);
    const before = receiver.at('/one').length;
    const id = idOf(await job('one'));
    const received = await receiver.until('/one', before + 1);
    expect(received.at(-1)?.body).toContain(id);
    // Four at once, unless configured.
    expect(receiver.at('/slow')).toHaveLength(4);
  });
});

describe('no delivery is lost', () => {
  it('when its worker is killed with kill -9 while it is under way', async () => {
    const open = new Set(receiver.at('/slow').map(({ id }) => id));
    await worker.kill();
    receiver.answering = () => 200;
    worker = await system.folder.start('work', WORKERS);
    const all = await receiver.until('/slow', 10);
    expect(oneId(all).size).toBe(6);
    for (const id of open) expect(all.filter((each) => each.id === id).length).toBeGreaterThan(1);
    for (const { verified } of all) expect(verified).toMatchObject({ type: 'job.completed' });
  });

  it('when whoever ended the job is killed before it could deliver anything', async () => {
    await worker.kill();
    const ender = await system.folder.start('work', ['--types', 'a', '--concurrency', 'a=2']);
    await hookUp('three');
    const ids = new Set([idOf(await job('three')), idOf(await job('three'))]);
    await witness.followToEnds();
    await ender.kill();
    const cancelled = idOf(await job('three', { delayMs: 60_000 }));
    await witness.cancel('three', cancelled);
    expect(receiver.at('/three')).toEqual([]);
    worker = await system.folder.start('work', WORKERS);
    const received = await receiver.until('/three', 3);
    const told = received.map(({ verified }) => textField(Object(verified).data, 'id'));
    expect(new Set(told)).toEqual(ids.add(cancelled));
  });

  it('and the jobs themselves were treated like any others', async () => {
    await witness.followToEnds();
    const verdict = await system.referee.expectNoViolations();
    expect(verdict.seen.starts).toBeGreaterThan(10);
  });
});
