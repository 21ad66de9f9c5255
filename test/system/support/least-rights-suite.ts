import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { aclRules } from '../../../src/redis/rights.js';
import { EventStream } from '../../http/support/event-stream.js';
import { textField } from '../../referee/json-field.js';
import type { Witness } from '../../referee/witness.js';
import type { HeadgateProcess } from '../../support/headgate-process.js';
import { ADMIN_KEY, idOf, type RefereedSystem, refereedSystem } from './refereed-system.js';
import { WebhookReceiver } from './webhook-receiver.js';

const PREFIX = 'shop:';
const PASSWORD = 'hunter2-is-a-secret';
const WORKERS = ['--types', 'a,headgate.webhook', '--concurrency', 'a=4'];
const LIMITED = 120_000;

/** Keys of somebody else, which look as if they were ours without the prefix. */
const THEIRS = [
  ['hg:{overrides}:revision', 'theirs'],
  ['theirs', 'too'],
] as const;

/** Servers on which Headgate is one user among others. */
export interface SharedServers {
  /** What the configuration says of them, but for who one is. */
  readonly redis: object;
  /** Commands that are needed besides those that always are. */
  readonly further: readonly string[];
  /** Each server, as somebody who may do anything there. */
  readonly roots: readonly Redis[];
  stop(): Promise<void>;
}

/** Does all that Headgate can do as a user with exactly the rights that docs/redis.md names, its password in a file. */
export function leastRightsSuite(open: () => Promise<SharedServers>): void {
  let servers: SharedServers;
  let secrets: string;
  let receiver: WebhookReceiver;
  let system: RefereedSystem;
  let api: HeadgateProcess;
  let worker: HeadgateProcess;
  let witness: Witness;

  beforeAll(async () => {
    servers = await open();
    const rules = aclRules(PREFIX, servers.further);
    for (const root of servers.roots) await root.acl('SETUSER', 'headgate', 'on', `>${PASSWORD}`, ...rules);
    // Whoever else uses the servers.
    for (const [key, value] of THEIRS) {
      const stored = await Promise.allSettled(servers.roots.map((root) => root.set(key, value)));
      expect(stored.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    }
    secrets = await mkdtemp(join(tmpdir(), 'hg-secrets-'));
    await writeFile(join(secrets, 'redis'), `${PASSWORD}\n`);
    receiver = await WebhookReceiver.start();
    const tier = { rate: '100/s', burst: 100, depth: 100 };
    system = await refereedSystem(
      {
        redis: { ...servers.redis, username: 'headgate', passwordFile: join(secrets, 'redis'), keyPrefix: PREFIX },
        lockDuration: '2s',
        stalledInterval: '200ms',
        types: {
          a: { attempts: 2, backoff: { type: 'fixed', delay: '20ms' } },
          far: { handler: undefined, options: undefined },
        },
        tiers: { only: tier },
        defaultTier: 'only',
        workers: { keys: ['a-key-of-workers-elsewhere'] },
        policies: {
          bucket: { rate: '5/s', burst: 2, deadline: '5s' },
          log: { algorithm: 'sliding-window-log', limit: 2, window: '1m', deadline: '5s' },
          counter: { algorithm: 'sliding-window-counter', limit: 2, window: '1m', deadline: '5s' },
          leased: { algorithm: 'leased', rate: '5/s', burst: 5, deadline: '5s' },
        },
        webhooks: { allowPrivate: true },
      },
      {
        separateClocks: true,
        types: [{ type: 'a', slots: 4 }],
        buckets: [],
        otherwise: { ratePerSecond: 100, burst: 100, depth: 100 },
      },
      { arrivalMs: 5000, lateMs: 5000 },
    );
    api = await system.folder.start('serve');
    worker = await system.folder.start('work', WORKERS);
    witness = system.witness(api.url);
  }, 2 * LIMITED);
  afterAll(async () => {
    await system?.end();
    await receiver?.stop();
    await servers?.stop();
    if (secrets) await rm(secrets, { recursive: true, force: true });
  });

  async function ask(
    method: string,
    path: string,
    body?: unknown,
    key = ADMIN_KEY,
  ): Promise<{ status: number; body: unknown }> {
    const response = await fetch(`${api.url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(LIMITED),
    });
    const text = await response.text();
    return { status: response.status, body: text === '' ? undefined : JSON.parse(text) };
  }

  /** What Redis refused; nothing, or the test has failed. */
  async function refusals(): Promise<unknown[]> {
    const logs = await Promise.all(servers.roots.map((root) => root.acl('LOG')));
    return logs.flatMap((log) => (Array.isArray(log) ? log : [log]));
  }

  /** Every key of every server, each once. */
  async function allKeys(): Promise<string[]> {
    const keys = await Promise.all(servers.roots.map((root) => root.keys('*')));
    return [...new Set(keys.flat())];
  }

  /** What stands under a key, on the server that has it. */
  async function standsUnder(key: string): Promise<unknown> {
    const values = await Promise.allSettled(servers.roots.map((root) => root.get(key)));
    return values.find((value) => value.status === 'fulfilled' && value.value !== null);
  }

  it('jobs come, wait, fail, are tried again and end', { timeout: LIMITED }, async () => {
    const hook = textField(
      (await ask('PATCH', '/v1/tenants/acme', { webhook: { url: receiver.url('/acme') } })).body,
      'webhookSecret',
    );
    receiver.secrets.set('/acme', hook ?? '');
    const job = { type: 'a', tenant: 'acme', cost: 1 };
    const first = await witness.enqueue(job);
    expect(first.status).toBe(202);
    expect((await witness.enqueue({ ...job, data: { fail: 1 } })).status).toBe(202);
    expect((await witness.enqueue({ ...job, delayMs: 50, idempotencyKey: 'k1' })).status).toBe(202);
    expect((await witness.enqueue({ ...job, startBy: new Date(Date.now() + 30_000).toISOString() })).status).toBe(202);
    const late = await witness.enqueue({ ...job, delayMs: 600_000 });
    await witness.look('acme', idOf(late));
    await witness.cancel('acme', idOf(late));
    await witness.enqueueBatch('acme', [job, { ...job, data: { fail: true } }]);
    await witness.followToEnds();
    expect((await receiver.until('/acme', 6)).every(({ verified }) => typeof verified === 'object')).toBe(true);
    const failed = await ask('GET', '/v1/jobs?tenant=acme&type=a&state=failed');
    expect(failed.status).toBe(200);
    expect((await ask('GET', `/v1/quote?type=a&count=3&tenant=acme`)).status).toBe(200);
    expect(await refusals()).toEqual([]);
  });

  it('policies decide by every algorithm', { timeout: LIMITED }, async () => {
    for (const policy of ['bucket', 'log', 'counter', 'leased']) {
      for (const _ of [1, 2, 3]) {
        const { status, body } = await ask('POST', '/v1/check', { policy, key: 'k', tenant: 'acme' });
        expect([200, 429], JSON.stringify(body)).toContain(status);
        expect(body).toMatchObject({ decidedBy: 'policer' });
      }
    }
    expect(await refusals()).toEqual([]);
  });

  it('workers elsewhere take jobs', { timeout: LIMITED }, async () => {
    const key = 'a-key-of-workers-elsewhere';
    const posted = await ask('POST', '/v1/jobs', { type: 'far', tenant: 'acme', data: {} });
    expect(posted.status).toBe(202);
    const { body } = await ask(
      'POST',
      '/v1/workers/claim',
      { type: 'far', claim: 'a-claim-of-this-test-01', waitMs: 20_000 },
      key,
    );
    expect(JSON.stringify(body)).toContain(textField(posted.body, 'id') ?? 'no id');
    expect(await refusals()).toEqual([]);
  });

  it('administrators change, pause, purge, make keys and look', { timeout: LIMITED }, async () => {
    const steps: [method: string, path: string, body?: unknown][] = [
      ['PATCH', '/v1/tenants/acme', { rate: '50/s' }],
      ['PATCH', '/v1/types/a', { capacity: { concurrency: 3 } }],
      ['GET', '/v1/tenants/acme'],
      ['POST', '/v1/tenants/acme/keys', {}],
      ['GET', '/v1/tenants/acme/keys'],
      ['GET', '/v1/tenants'],
      ['POST', '/v1/tenants/acme/pause'],
      ['POST', '/v1/tenants/acme/resume'],
      ['POST', '/v1/types/a/pause'],
      ['POST', '/v1/types/a/resume'],
      ['POST', '/v1/tenants/acme/purge'],
      ['GET', '/v1/stats'],
      ['GET', '/v1/limits?tenant=acme'],
      ['DELETE', '/v1/tenants/gone'],
    ];
    for (const [method, path, body] of steps) {
      const answer = await ask(method, path, body);
      expect(answer.status, `${method} ${path}: ${JSON.stringify(answer.body)}`).toBeLessThan(300);
    }
    expect((await fetch(`${api.url}/metrics`, { headers: { authorization: `Bearer ${ADMIN_KEY}` } })).status).toBe(200);
    expect(await refusals()).toEqual([]);
  });

  it('the dashboard signs in and sees jobs come and go', { timeout: LIMITED }, async () => {
    const signedIn = await fetch(`${api.url}/dashboard/session`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: api.url, 'sec-fetch-site': 'same-origin' },
      body: JSON.stringify({ key: ADMIN_KEY }),
    });
    expect(signedIn.status).toBe(200);
    const cookie = signedIn.headers.get('set-cookie')?.split(';')[0] ?? '';
    const stream = await EventStream.openWith(`${api.url}/dashboard/stream?type=a&tenant=acme`, { cookie });
    await expect.poll(() => stream.events, { timeout: LIMITED / 2 }).toContain('summary');
    const job = await witness.enqueue({ type: 'a', tenant: 'acme', cost: 1 });
    const events = await EventStream.openWith(`${api.url}/v1/jobs/${idOf(job)}/events?tenant=acme`, {
      authorization: `Bearer ${ADMIN_KEY}`,
    });
    await expect.poll(() => events.events, { timeout: LIMITED / 2 }).toContain('end');
    stream.leave();
    events.leave();
    expect(await refusals()).toEqual([]);
  });

  it('nothing was refused, nothing outside the prefix was touched, and no password was told', {
    timeout: LIMITED,
  }, async () => {
    await witness.followToEnds();
    expect(await refusals()).toEqual([]);
    const keys = await allKeys();
    expect(keys.filter((key) => !key.startsWith(PREFIX)).toSorted()).toEqual(THEIRS.map(([key]) => key));
    for (const [key, value] of THEIRS) expect(await standsUnder(key)).toMatchObject({ value });
    expect(keys.length).toBeGreaterThan(5);
    for (const each of [api, worker]) {
      expect(each.lines.filter((line) => /NOPERM|"level":50/.test(line))).toEqual([]);
      expect(each.lines.join('\n')).not.toContain(PASSWORD);
    }
    await system.referee.expectNoViolations();
  });
}
