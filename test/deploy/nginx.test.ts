import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LONGEST_WAIT_S } from '../../src/http/prefer-wait.js';
import { EventStream } from '../http/support/event-stream.js';
import { eventually } from '../support/eventually.js';
import { valueIn } from '../support/exposition.js';
import { HeadgateFolder, type HeadgateProcess } from '../support/headgate-process.js';
import { startRedis, type TestRedis } from '../support/redis-server.js';
import { freePort } from '../system/support/free-port.js';
import { type Nginx, startWholeNginx } from '../system/support/nginx.js';
import { PROJECT } from './support/dockerfile.js';
import { type NameServer, startNameServer } from './support/name-server.js';

const KEYS = { admin: 'the-admin-key-of-this-test', acme: 'the-key-of-acme-of-this-test' };

/** A text in which each of these stands once, with something else in its place. */
function fillIn(text: string, places: Readonly<Record<string, string>>): string {
  return Object.entries(places).reduce((filled, [place, value]) => {
    if (filled.split(place).length !== 2) throw new Error(`"${place}" does not stand there once`);
    return filled.replace(place, () => value);
  }, text);
}
const fileOf = (name: string) => readFile(join(PROJECT, 'docker', name), 'utf8');

describe('docker/nginx.conf, over API processes that DNS names, with docker/headgate.yaml', () => {
  let redis: TestRedis;
  let folder: HeadgateFolder;
  let names: NameServer;
  let nginx: Nginx;
  let url: string;
  let apiPort: number;
  const apis = new Map<string, HeadgateProcess>();

  /** An API process as a container has it: an address of its own, and the port that all of them have. */
  async function startApi(address: string): Promise<void> {
    apis.set(address, await folder.start('serve', ['--listen', `${address}:${apiPort}`]));
  }

  beforeAll(async () => {
    redis = await startRedis({ port: true });
    const config = fillIn(await fileOf('headgate.yaml'), {
      'env:REDIS_URL': redis.url ?? '',
      'env:HEADGATE_ADMIN_KEY': KEYS.admin,
      'env:HEADGATE_ACME_KEY': KEYS.acme,
    });
    folder = await HeadgateFolder.create(config);
    names = await startNameServer('api');
    names.set(['127.0.0.1', '127.0.0.2']);
    apiPort = await freePort();
    await Promise.all([startApi('127.0.0.1'), startApi('127.0.0.2'), folder.start('work')]);
    const port = await freePort();
    const conf = await fileOf('nginx.conf');
    nginx = await startWholeNginx((home) =>
      fillIn(conf.replaceAll('/tmp/', `${home}/`), {
        'stderr warn': 'stderr notice',
        'resolver 127.0.0.11 ': `resolver 127.0.0.1:${names.port} `,
        'listen 8080': `listen 127.0.0.1:${port}`,
        'http://$api:8080': `http://$api:${apiPort}`,
      }),
    );
    url = `http://127.0.0.1:${port}`;
  });
  afterAll(async () => {
    await nginx?.stop();
    await names?.close();
    await folder?.remove();
    await redis?.stop();
  });

  const ask = (path: string, method = 'GET', body?: object, more: Readonly<Record<string, string>> = {}) =>
    fetch(`${url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${path.startsWith('/v1/tenants') ? KEYS.admin : KEYS.acme}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...more,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  const post = (data: object, more: Readonly<Record<string, string>> = {}) =>
    ask('/v1/jobs', 'POST', { type: 'echo', data }, more);

  /** Jobs that the API of this address has admitted, as it says itself. */
  async function admittedBy(address: string): Promise<number> {
    const text = await (await fetch(`http://${address}:${apiPort}/metrics`)).text();
    return valueIn(text, 'headgate_jobs_admitted_total') ?? 0;
  }

  it('spreads the requests over them all', async () => {
    // By lot, and those that wait for one and the same answer of the DNS all go to its first address.
    let posted = 0;
    const allServe = async () => {
      expect((await post({})).status).toBe(202);
      posted += 1;
      return isPositive(await admittedBy('127.0.0.1')) && isPositive(await admittedBy('127.0.0.2'));
    };
    await expect.poll(allServe, { timeout: 60_000, interval: 50 }).toBe(true);
    expect((await admittedBy('127.0.0.1')) + (await admittedBy('127.0.0.2'))).toBe(posted);
  });

  it('waits for the end of a job with who posts it', async () => {
    const answer = await post({ ms: 1500 }, { prefer: 'wait=60' });
    expect(await answer.json()).toMatchObject({ state: 'completed', result: { ms: 1500 } });
    expect(answer.status).toBe(200);
    const conf = await fileOf('nginx.conf');
    expect(Number(/proxy_read_timeout (\d+)s;/.exec(conf)?.[1])).toBeGreaterThan(LONGEST_WAIT_S + 10);
  });

  it('passes on each event of a job as it comes', async () => {
    await ask('/v1/tenants/acme/pause', 'POST');
    const { id }: { id: string } = JSON.parse(await (await post({})).text());
    const stream = await EventStream.open(`${url}/v1/jobs/${id}/events`, KEYS.acme);
    await eventually(() => expect(stream.data('state')).toHaveLength(1));
    expect(stream.events).not.toContain('end');

    await ask('/v1/tenants/acme/resume', 'POST');
    await stream.ended;
    expect(stream.events.at(-1)).toBe('end');
    expect(stream.data('end')[0]).toMatchObject({ state: 'completed' });
  });

  it('leaves it to the API to say that a body is too large', async () => {
    const answer = await post({ text: 'x'.repeat(1_200_000) });
    expect(answer.status).toBe(413);
    expect(await answer.json()).toMatchObject({ code: 'body_too_large' });
  });

  it('shows the metrics of the processes to nobody', async () => {
    expect((await ask('/metrics')).status).toBe(404);
  });

  it('passes over a process that is gone, and finds one that is new', async () => {
    await apis.get('127.0.0.1')?.stop();
    // Its address is still in nginx' memory, and in the DNS.
    const statuses = await Promise.all(Array.from({ length: 40 }, async () => (await ask('/v1/limits')).status));
    expect(statuses).toEqual(Array(40).fill(200));

    await startApi('127.0.0.3');
    names.set(['127.0.0.2', '127.0.0.3']);
    const isUsed = async () => {
      await post({});
      return isPositive(await admittedBy('127.0.0.3'));
    };
    await expect.poll(isUsed, { timeout: 60_000, interval: 200 }).toBe(true);
  });
});

const isPositive = (count: number) => count > 0;
