import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { textField } from '../referee/json-field.js';
import { HeadgateFolder, type HeadgateProcess } from '../support/headgate-process.js';
import { startCluster, type TestCluster } from '../support/redis-cluster.js';
import { ADMIN_KEY } from './support/refereed-system.js';

const LIMITED = 120_000;

let cluster: TestCluster;
let folder: HeadgateFolder;
const apis: HeadgateProcess[] = [];

beforeAll(async () => {
  cluster = await startCluster(3);
  folder = await HeadgateFolder.create({
    redis: { cluster: cluster.addresses.map(({ host, port }) => `${host}:${port}`), keyPrefix: 'shop:' },
    admin: { keys: [ADMIN_KEY] },
    tenants: { keyed: { key: 'a-key-so-that-none-is-made' } },
    types: {},
    policies: { api: { rate: '1/h', burst: 3, deadline: '5s', onOutage: 'closed' } },
  });
  for (const _ of [1, 2]) apis.push(await folder.start('serve'));
}, LIMITED);
afterAll(async () => {
  await folder?.remove();
  await cluster?.stop();
});

async function ask(api: HeadgateProcess | undefined, path: string, body: object, method = 'POST', key = ADMIN_KEY) {
  const response = await fetch(`${api?.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(LIMITED),
  });
  return { status: response.status, body: (await response.json()) as unknown };
}

it('two APIs over one cluster share every limit, keys and changes', { timeout: LIMITED }, async () => {
  const [one, other] = apis;
  for (let tenant = 0; tenant < 20; tenant += 1) {
    const check = (api: HeadgateProcess | undefined) =>
      ask(api, '/v1/check', { policy: 'api', key: 'k', tenant: `t${tenant}` });
    const answers = [await check(one), await check(other), await check(one), await check(other)];
    expect(
      answers.map(({ status }) => status),
      JSON.stringify(answers),
    ).toEqual([200, 200, 200, 429]);
  }
  expect((await ask(one, '/v1/tenants/acme', { depth: 7 }, 'PATCH')).status).toBe(200);
  const made = await ask(one, '/v1/tenants/acme/keys', {});
  const key = textField(made.body, 'key') ?? '';
  await vi.waitFor(
    async () => expect((await ask(other, '/v1/check', { policy: 'api', key: 'k' }, 'POST', key)).status).toBe(200),
    {
      timeout: 30_000,
      interval: 200,
    },
  );
  for (const api of apis) expect(api.lines.filter((line) => /"level":50|CROSSSLOT|MOVED/.test(line))).toEqual([]);
});
